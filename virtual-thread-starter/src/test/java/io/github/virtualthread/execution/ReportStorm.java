package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Programs of their own, for {@link ReportStormTests}: very many calls end at once, and what hangs on their futures blocks. */
final class ReportStorm {

    /** How the waiting calls end. */
    enum By {
        EVICTION {
            @Override
            void end(TestEngine test) {
                test.limits.evictWaiting(LIMIT);
            }
        },
        MAX_WAIT {
            @Override
            void end(TestEngine test) {
                test.limit(LIMIT).setMaxWait(Duration.ofMillis(1));
            }
        },
        STOP {
            @Override
            void end(TestEngine test) {
                test.limits.rejectWaiting();
            }
        };

        abstract void end(TestEngine test);
    }

    private static final String LIMIT = "db";
    private static final int CARRIERS = Integer.getInteger("jdk.virtualThreadScheduler.parallelism", 2);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final CountDownLatch over = new CountDownLatch(1);

    private ReportStorm() {}

    public static void main(String[] arguments) throws Throwable {
        ChildProgram.quiet();
        ReportStorm storm = new ReportStorm();
        switch (arguments[0]) {
            case "callers" ->
                storm.callers(
                        By.valueOf(arguments[1]), Boolean.parseBoolean(arguments[2]), Integer.parseInt(arguments[3]));
            case "overload" -> storm.overload(Integer.parseInt(arguments[1]));
            case "stop" -> storm.stop(Integer.parseInt(arguments[1]), Duration.parse(arguments[2]));
            case "pinned" ->
                storm.pinned(
                        Integer.parseInt(arguments[1]), Duration.parse(arguments[2]), Duration.parse(arguments[3]));
            case "timeouts" -> storm.timeouts(Integer.parseInt(arguments[1]));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
        System.exit(0); // whatever threads hang
    }

    /** Others use limits of the same family while calls that wait are rejected: how long does each of their steps take? */
    private void callers(By by, boolean busy, int waiting) throws Throwable {
        TestEngine test = new TestEngine(
                LimitSettings.of("root", 1_000),
                LimitSettings.of(LIMIT, 20).withWithin("root"),
                LimitSettings.of("report", 8).withWithin("root"));
        AtomicLong latest = new AtomicLong();
        AtomicBoolean begun = new AtomicBoolean();
        AtomicInteger held = new AtomicInteger();
        AtomicInteger served = new AtomicInteger();
        for (int i = 0; i < 20; i++) {
            long late = TimeUnit.MILLISECONDS.toNanos(20L * i);
            AtomicLong end = new AtomicLong();
            test.submit(LIMIT, () -> {
                        held.incrementAndGet();
                        while (!begun.get()) {
                            LockSupport.parkNanos(1_000_000);
                        }
                        LockSupport.parkNanos(late);
                        end.set(System.nanoTime());
                        return null;
                    })
                    .whenComplete((value, failure) -> {
                        latest.accumulateAndGet(System.nanoTime() - end.get(), Math::max);
                        served.incrementAndGet();
                    });
        }
        ChildProgram.until(() -> held.get() == 20);
        AtomicInteger told = new AtomicInteger();
        TaskSpec waits = test.engine.spec("Test.waits", LIMIT);
        for (int i = 0; i < waiting; i++) {
            test.engine.submit(waits, () -> null).whenComplete((value, failure) -> {
                told.incrementAndGet();
                LockSupport.parkNanos(3 * SECOND);
            });
        }
        if (busy) {
            test.keepCarriers(CARRIERS, over);
        }
        TaskSpec spec = test.engine.spec("Test.report", "report");
        TaskLimit report = test.limit("report");
        test.engine.acquire(spec).close(null); // what follows is not about classes that have to be loaded
        report.resize(9);
        report.occupy().close();
        AtomicLong asked = new AtomicLong();
        Thread asking = Thread.ofPlatform().daemon().start(() -> asked.set(nanos(() -> by.end(test))));
        begun.set(true);
        long submit = 0;
        long change = 0;
        long close = 0;
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < 5 * SECOND && (asking.isAlive() || told.get() < waiting)) {
            submit = Math.max(submit, nanos(() -> test.engine.submit(spec, () -> null)));
            change = Math.max(change, nanos(() -> report.resize(report.permits() == 8 ? 9 : 8)));
            change = Math.max(change, nanos(() -> report.occupy().close()));
            if (report.available() > 0 && report.waiting() == 0) {
                HeldPermit permit = test.engine.acquire(spec);
                close = Math.max(close, nanos(() -> permit.close(null)));
            }
            LockSupport.parkNanos(2_000_000);
        }
        asking.join(TimeUnit.MINUTES.toMillis(1));
        ChildProgram.tell("ms of the longest submit", TimeUnit.NANOSECONDS.toMillis(submit));
        ChildProgram.tell("ms of the longest change", TimeUnit.NANOSECONDS.toMillis(change));
        ChildProgram.tell("ms of the longest close", TimeUnit.NANOSECONDS.toMillis(close));
        ChildProgram.tell("ms for who asked", asked.get() == 0 ? -1 : TimeUnit.NANOSECONDS.toMillis(asked.get()));
        if (!busy) {
            ChildProgram.tell("served", ChildProgram.until(() -> served.get() == 20) ? 20 : served.get());
            ChildProgram.tell("ms of the latest outcome", TimeUnit.NANOSECONDS.toMillis(latest.get()));
        }
        ChildProgram.tell("told", told.get());
    }

    private static long nanos(Runnable action) {
        long begin = System.nanoTime();
        action.run();
        return System.nanoTime() - begin;
    }

    /** More calls than can be served, under a limit within another: how late are the outcomes of those that are? */
    private void overload(int perMillisecond) throws InterruptedException {
        TestEngine test = new TestEngine(
                LimitSettings.of(LIMIT, 20),
                LimitSettings.of("report", 30).withWithin(LIMIT).withMaxWait(Duration.ofMillis(500)));
        TaskSpec spec = test.engine.spec("Test.report", "report");
        int seconds = 5;
        long[] late = new long[seconds * 2_500];
        AtomicInteger served = new AtomicInteger();
        long begin = System.nanoTime();
        for (long made = 0; System.nanoTime() - begin < seconds * SECOND; LockSupport.parkNanos(1_000_000)) {
            long due = (System.nanoTime() - begin) / 1_000_000 * perMillisecond;
            for (made = Math.max(made, due - 2_000); made < due; made++) {
                long[] end = new long[1];
                test.engine
                        .submit(spec, () -> {
                            LockSupport.parkNanos(10_000_000);
                            end[0] = System.nanoTime();
                            return null;
                        })
                        .whenComplete((value, failure) -> {
                            if (failure == null) {
                                late[served.getAndIncrement()] = System.nanoTime() - end[0];
                            }
                        });
            }
        }
        test.engine.awaitIdle(ChildProgram.ENOUGH);
        long[] sorted = Arrays.stream(late, 0, served.get()).sorted().toArray();
        ChildProgram.tell("served", sorted.length);
        ChildProgram.tell("us of the 99th outcome of 100", sorted[sorted.length * 99 / 100] / 1_000);
    }

    /** A stop while bodies keep all carriers, and what hangs on the futures of those that wait blocks for long. */
    private void stop(int waiting, Duration blocks) {
        TestEngine test = new TestEngine(LimitSettings.of(LIMIT, 1));
        test.hold(LIMIT, ChildProgram.NEVER);
        test.keepCarriers(CARRIERS, over);
        List<CompletableFuture<?>> futures = new ArrayList<>();
        for (int i = 0; i < waiting; i++) {
            CompletableFuture<?> future = test.submit(LIMIT, () -> null);
            futures.add(future);
            future.whenComplete((value, failure) -> LockSupport.parkNanos(blocks.toNanos()));
        }
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        int before = threads.getThreadCount();
        threads.resetPeakThreadCount();
        ChildProgram.tellStop(test);
        ChildProgram.tell("threads for the stop", threads.getPeakThreadCount() - before);
        ChildProgram.tell(
                "open futures after the stop", ChildProgram.open(futures.toArray(CompletableFuture<?>[]::new)));
        ChildProgram.tell(
                "futures that do not say why",
                futures.stream()
                        .filter(future -> !String.valueOf(future.handle((value, failure) -> failure)
                                        .getNow(null))
                                .contains("LimitExceededException"))
                        .count());
    }

    /** Bodies that are pinned keep all carriers, and callers have fallbacks that block: when do these begin? */
    private void pinned(int perSecond, Duration fallback, Duration time) throws Exception {
        Class<?> continuation = Class.forName("jdk.internal.vm.Continuation");
        Method pin = continuation.getMethod("pin");
        Method unpin = continuation.getMethod("unpin");
        TestEngine test = new TestEngine(LimitSettings.of(LIMIT, CARRIERS).withMaxWait(Duration.ofSeconds(2)));
        TaskSpec spec = test.engine.spec("Test.pinned", LIMIT);
        AtomicLong latest = new AtomicLong();
        AtomicInteger told = new AtomicInteger();
        long half = 0;
        long begin = System.nanoTime();
        for (int made = 0; System.nanoTime() - begin < time.toNanos(); made++) {
            while (System.nanoTime() - begin < made * SECOND / perSecond) {
                LockSupport.parkNanos(1_000_000);
            }
            if (half == 0 && System.nanoTime() - begin > time.toNanos() / 2) {
                half = latest.getAndSet(0);
            }
            long at = System.nanoTime();
            test.engine
                    .submit(spec, () -> {
                        pin.invoke(null);
                        try {
                            LockSupport.parkNanos(SECOND);
                        } finally {
                            unpin.invoke(null);
                        }
                        return null;
                    })
                    .whenComplete((value, failure) -> {
                        if (failure != null) {
                            latest.accumulateAndGet(System.nanoTime() - at, Math::max);
                            told.incrementAndGet();
                            LockSupport.parkNanos(fallback.toNanos());
                        }
                    });
        }
        ChildProgram.tell("ms of the latest report at first", TimeUnit.NANOSECONDS.toMillis(half));
        ChildProgram.tell("ms of the latest report then", TimeUnit.NANOSECONDS.toMillis(latest.get()));
        ChildProgram.tell("reports each second", told.get() * 1_000L / Math.max(1, time.toMillis() - 2_000));
    }

    /** Many calls that run pass their timeouts at once while bodies keep all carriers: how late is the one after them? */
    private void timeouts(int many) {
        TestEngine test = new TestEngine();
        CountDownLatch running = new CountDownLatch(many + 1);
        long begin = System.nanoTime();
        AtomicLong last = new AtomicLong();
        Duration after = Duration.ofSeconds(6);
        for (int i = 0; i <= many; i++) {
            long[] end = new long[1];
            CompletableFuture<?> future = new CompletableFuture<>();
            Runnable hangs = () -> {
                Duration left = after.minusNanos(System.nanoTime() - begin);
                end[0] = System.nanoTime() + left.toNanos();
                test.engine
                        .submit(test.engine.spec("Test.slow", null, left), () -> {
                            running.countDown();
                            TestEngine.awaitStubbornly(ChildProgram.NEVER);
                            return null;
                        })
                        .whenComplete((value, failure) -> {
                            last.accumulateAndGet(System.nanoTime() - end[0], Math::max);
                            future.complete(null);
                        });
            };
            hangs.run();
            ends.add(future);
        }
        TestEngine.await(running);
        test.keepCarriers(CARRIERS, over);
        CompletableFuture<?> all = CompletableFuture.allOf(ends.toArray(CompletableFuture<?>[]::new));
        ChildProgram.tell("missed timeouts", ChildProgram.until(all::isDone) ? 0 : 1);
        ChildProgram.tell("ms of the latest timeout", TimeUnit.NANOSECONDS.toMillis(last.get()));
        over.countDown();
    }

    private final List<CompletableFuture<?>> ends = new ArrayList<>();
}
