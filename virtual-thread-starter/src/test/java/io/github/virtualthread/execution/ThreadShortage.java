package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitSettings;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Programs of their own, for {@link ThreadShortageTests}: the JVM gets no more platform threads, for a while. */
final class ThreadShortage {

    /** What there is to stop. */
    private static final int RUNNING = 500;

    private static final int WAITING = 2_000;

    private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int WITHOUT_CARRIER = 5_000;

    /** What this JVM has seen of virtual threads, but for those of the engine itself. */
    enum Before {
        NO_CALL,
        NO_TIMED_PARK,
        ALL_CALLS
    }

    private ThreadShortage() {}

    public static void main(String[] arguments) {
        ChildProgram.quiet();
        try {
            switch (arguments[0]) {
                case "calls" -> calls(Before.valueOf(arguments[1]), Long.parseLong(arguments[2]));
                case "stop" -> stop();
                default -> stopWithoutCarriers(Boolean.parseBoolean(arguments[1]));
            }
        } catch (Throwable failure) {
            failure.printStackTrace(System.out);
            Runtime.getRuntime().halt(1); // a hook needs a thread
        }
        System.out.flush();
        Runtime.getRuntime().halt(0); // whatever threads hang
    }

    /** Calls of all kinds while there is no thread to be had, for some moments, and evictions. */
    private static void calls(Before before, long seconds) throws Exception {
        CountDownLatch begin = new CountDownLatch(1);
        TestEngine test = ShortageCalls.MIXED.engine();
        ShortageCallers callers = new ShortageCallers(ShortageCalls.MIXED.callers(test).stream()
                .<ShortageCallers.Calls>map(each -> () -> {
                    begin.await();
                    return each.next();
                })
                .toList());
        callers.start();
        test.engine.start();
        switch (before) {
            case NO_CALL -> ChildProgram.until(() -> false, Duration.ofSeconds(1)); // what the engine does by itself
            case NO_TIMED_PARK ->
                test.submit(ShortageCalls.LIMIT, () -> "value").get();
            case ALL_CALLS -> {
                begin.countDown();
                callers.awaitWarm();
            }
        }
        CompletableFuture<?>[] crowd = new CompletableFuture<?>[WAITING];
        long evicted = 0;
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        try (Threads threads = new Threads()) {
            do {
                threads.take();
                begin.countDown();
                long moment = System.nanoTime();
                do { // a thread that is not to be had may cost milliseconds each time
                    evicted += evict(test, crowd);
                    LockSupport.parkNanos(1_000_000);
                } while (System.nanoTime() - moment < MOMENT);
                threads.letGo();
                LockSupport.parkNanos(5_000_000);
            } while (System.nanoTime() - end < 0);
            threads.tell();
        }
        callers.end();
        ChildProgram.tell("calls evicted", evicted);
        ChildProgram.until(() -> ChildProgram.open(crowd) == 0);
        ChildProgram.tell("open futures of evicted calls", ChildProgram.open(crowd));
        ChildProgram.tellWhatIsLeft(test, callers);
    }

    /** Has many calls wait, and evicts them; where all before have ended. */
    private static long evict(TestEngine test, CompletableFuture<?>[] crowd) {
        try {
            for (int i = 0; i < crowd.length; i++) {
                if (crowd[i] == null || crowd[i].isDone()) {
                    crowd[i] = test.submit(ShortageCalls.CROWD, () -> {
                        LockSupport.parkNanos(1_000_000);
                        return "value";
                    });
                }
            }
            test.limits.evictWaiting(ShortageCalls.LIMIT);
            return test.limits.evictWaiting(ShortageCalls.CROWD);
        } catch (OutOfMemoryError shortage) {
            return 0;
        }
    }

    /** Bodies that ignore interrupts, and calls that wait for their permits, when the engine stops. */
    private static void stop() {
        CountDownLatch over = new CountDownLatch(1);
        TestEngine test = new TestEngine(LimitSettings.of(ShortageCalls.LIMIT, RUNNING));
        List<CompletableFuture<?>> futures = new ArrayList<>();
        AtomicInteger running = new AtomicInteger();
        for (int i = 0; i < RUNNING + WAITING; i++) {
            futures.add(test.submit(ShortageCalls.LIMIT, () -> {
                running.incrementAndGet();
                TestEngine.awaitStubbornly(over);
                return "value";
            }));
        }
        ChildProgram.until(() -> running.get() == RUNNING);
        try (Threads threads = new Threads().take()) {
            ChildProgram.tellStop(test);
            threads.tell();
            ChildProgram.tell("open futures after the stop", open(futures));
        }
        over.countDown();
        ChildProgram.tell("never idle", ChildProgram.until(test.engine::isIdle) ? 0 : 1);
        ChildProgram.tell(
                "permits lost", RUNNING - test.limit(ShortageCalls.LIMIT).available());
    }

    /**
     * Calls that have a thread each, but no carrier, when the engine stops.
     *
     * @param bounded whether there is no platform thread either
     */
    private static void stopWithoutCarriers(boolean bounded) {
        TestEngine test = new TestEngine();
        CountDownLatch over = new CountDownLatch(1);
        List<CompletableFuture<?>> futures = new ArrayList<>(test.keepCarriers(CarrierShortage.CARRIERS, over));
        for (int i = 0; i < WITHOUT_CARRIER; i++) {
            futures.add(test.submit(null, () -> "value"));
        }
        if (bounded) {
            try (Threads threads = new Threads().take()) {
                ChildProgram.tellStop(test);
                threads.tell();
                ChildProgram.tell("open futures after the stop", open(futures));
            }
        } else {
            hangOn(futures, over);
            ThreadMXBean threads = ManagementFactory.getThreadMXBean();
            int before = threads.getThreadCount();
            threads.resetPeakThreadCount();
            ChildProgram.tellStop(test);
            ChildProgram.tell("threads for the stop", threads.getPeakThreadCount() - before);
            ChildProgram.tell("open futures after the stop", open(futures));
        }
        over.countDown();
        ChildProgram.tell("never idle", ChildProgram.until(test.engine::isIdle) ? 0 : 1);
    }

    /** What takes a moment, and on a few of them what blocks: each keeps the thread that completes its future. */
    private static void hangOn(List<CompletableFuture<?>> futures, CountDownLatch over) {
        int apart = futures.size() / 20;
        for (int i = 0; i < futures.size(); i++) {
            if (i % apart == 0) {
                futures.get(i).whenComplete((value, failure) -> TestEngine.awaitStubbornly(over));
            } else {
                futures.get(i).whenComplete((value, failure) -> LockSupport.parkNanos(20_000_000));
            }
        }
    }

    private static long open(List<CompletableFuture<?>> futures) {
        return ChildProgram.open(futures.toArray(CompletableFuture<?>[]::new));
    }

    /** All threads that the JVM can get, also those that others let go meanwhile. */
    private static final class Threads implements AutoCloseable {

        private static final int MOST = 20_000;

        private final AtomicInteger taken = new AtomicInteger();
        private final AtomicInteger refused = new AtomicInteger();
        private volatile @Nullable CountDownLatch release; // null: none is to be taken
        private volatile boolean closed;

        Threads() {
            Thread.ofPlatform().daemon().start(this::takeWhileWanted);
        }

        /** There is none left when this returns. */
        Threads take() {
            int before = refused.get();
            release = new CountDownLatch(1);
            ChildProgram.until(() -> refused.get() > before || taken.get() >= MOST);
            return this;
        }

        void letGo() {
            CountDownLatch held = release;
            release = null;
            if (held != null) {
                held.countDown();
            }
        }

        private void takeWhileWanted() {
            while (!closed) {
                CountDownLatch until = release;
                if (until == null || taken.get() >= MOST || !takeOne(until)) {
                    LockSupport.parkNanos(500_000);
                }
            }
        }

        private boolean takeOne(CountDownLatch until) {
            try {
                Thread.ofPlatform().daemon().start(() -> TestEngine.awaitStubbornly(until));
                taken.incrementAndGet();
                return true;
            } catch (OutOfMemoryError shortage) {
                refused.incrementAndGet();
                return false;
            }
        }

        void tell() {
            ChildProgram.tell("threads taken", taken.get());
            ChildProgram.tell("threads refused", refused.get());
        }

        @Override
        public void close() {
            closed = true;
            letGo();
        }
    }
}
