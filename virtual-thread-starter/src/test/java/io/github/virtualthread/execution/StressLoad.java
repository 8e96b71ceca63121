package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.ENOUGH;

import io.github.virtualthread.execution.StressLimit.Turn;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Eight callers, twelve limits that change their sizes, and calls that end in every way there is; all at random. */
final class StressLoad implements AutoCloseable {

    static final int CALLERS = 8;
    private static final int MOST_PERMITS = 5;

    /** A running body wants to be cancelled; the future gets known when the call has been made. */
    private record Wish(CompletableFuture<CompletableFuture<?>> call) {}

    final StressOutcomes seen = new StressOutcomes();
    final StressOutcomes heard = new StressOutcomes();
    final List<StressLimit> limits;
    final TestEngine test;
    private final SplittableRandom random;
    final Semaphore changes = new Semaphore(0); // of limits, asked for by callers
    private final BlockingQueue<Wish> wishes = new LinkedBlockingQueue<>();
    private final AtomicReference<@Nullable Throwable> broken = new AtomicReference<>();
    private final Thread canceller = Thread.ofPlatform().name("canceller").start(() -> guarded(this::cancelWhoRuns));

    StressLoad(long seed) {
        random = new SplittableRandom(seed);
        limits = settings().stream().map(StressLimit::new).toList();
        test = new TestEngine(heard, settings().toArray(LimitSettings[]::new));
    }

    private static List<LimitSettings> settings() {
        List<LimitSettings> settings = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            LimitSettings limit = LimitSettings.of("limit-" + i, 1 + i / 3).withRejectHopeless(i % 2 == 0);
            settings.add(
                    switch (i % 4) {
                        case 0 -> limit;
                        case 1 -> limit.withQueueCapacity(i).withNested(Nested.FAIL);
                        case 2 -> limit.withMaxWait(Duration.ofMillis(1));
                        default -> limit.withQueueCapacity(20).withMaxWait(Duration.ofMillis(5));
                    });
        }
        return settings;
    }

    /**
     * Each caller makes that many calls; returns when all have ended.
     *
     * @param stopAfter after how many calls the engine is stopped while more are made, at least 1; null for never
     */
    void round(int callsEach, @Nullable Integer stopAfter) throws InterruptedException {
        CountDownLatch stop = new CountDownLatch(stopAfter == null ? 0 : stopAfter);
        CountDownLatch begin = new CountDownLatch(1);
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            StressCaller caller = new StressCaller(this, random.split());
            callers.add(start("caller-" + i, () -> {
                begin.await();
                return caller.calls(callsEach, stop);
            }));
        }
        SplittableRandom sizes = random.split();
        Thread resizer = start("resizer", () -> {
            begin.await();
            while (callers.stream().anyMatch(Thread::isAlive)) {
                if (changes.tryAcquire(10, TimeUnit.MILLISECONDS)) {
                    change(sizes);
                }
            }
            return null;
        });
        begin.countDown();
        if (stopAfter != null) {
            if (!stop.await(2, TimeUnit.MINUTES)) {
                throw new AssertionError("callers hang: %d calls are missing, %s".formatted(stop.getCount(), seen));
            }
            test.engine.stop(Duration.ofMillis(random.nextInt(20)));
        }
        for (Thread caller : callers) {
            end(caller);
        }
        end(resizer);
        TestEngine.awaitIdle(test);
        awaitCounted();
        Late.awaitNoneInTimer(test);
    }

    /** Who cancels a call, or ends its time, may count it a moment after the call itself has ended. */
    private void awaitCounted() {
        long begin = System.nanoTime();
        while (seen.ended() != seen.submitted.sum()) {
            if (System.nanoTime() - begin > ENOUGH.toNanos()) {
                throw new AssertionError("ends that nobody has told of, or told of twice: " + seen);
            }
            Thread.yield();
        }
    }

    private void change(SplittableRandom random) {
        // the others keep their number, so that their order is exact
        StressLimit limit = limits.get(random.nextInt(limits.size() / 2, limits.size()));
        if (random.nextInt(10) == 0) {
            test.limits.evictWaiting(limit.settings.name());
        } else {
            limit.resize(test, 1 + random.nextInt(MOST_PERMITS), seen);
        }
    }

    private Thread start(String name, TaskBody work) {
        return Thread.ofPlatform().daemon().name(name).start(() -> guarded(work));
    }

    private void guarded(TaskBody work) {
        try {
            work.run();
        } catch (Throwable failure) {
            broken.compareAndSet(null, failure);
        }
    }

    private void end(Thread thread) throws InterruptedException {
        if (!thread.join(ENOUGH.multipliedBy(3))) {
            AssertionError hangs = new AssertionError(thread.getName() + " hangs");
            hangs.setStackTrace(thread.getStackTrace());
            throw hangs;
        }
        Throwable failure = broken.get();
        if (failure != null) {
            throw new AssertionError(thread.getName() + " or another has failed", failure);
        }
    }

    /** A body that waits until it is interrupted, and asks to be. */
    TaskBody cancelledOnceItRuns(CompletableFuture<CompletableFuture<?>> itself) {
        return () -> {
            wishes.add(new Wish(itself));
            return untilInterrupted();
        };
    }

    static @Nullable Object untilInterrupted() throws InterruptedException {
        new CountDownLatch(1).await();
        return null;
    }

    private @Nullable Object cancelWhoRuns() throws Exception {
        while (true) {
            wishes.take().call().get(2, TimeUnit.MINUTES).cancel(true);
        }
    }

    /** Counts what becomes of a call, for whoever made it. */
    <T extends CompletableFuture<?>> T counted(T call) {
        seen.submitted.increment();
        call.whenComplete((value, failure) -> seen.add(failure));
        return call;
    }

    CompletableFuture<@Nullable Object> submit(TaskSpec spec, StressLimit limit, @Nullable Turn turn, TaskBody body) {
        CompletableFuture<@Nullable Object> call = counted(test.engine.submit(spec, () -> limit.run(turn, body)));
        if (turn != null) {
            turn.made();
        }
        return call;
    }

    @Nullable
    Object call(TaskSpec spec, StressLimit limit, @Nullable Turn turn, TaskBody body) throws Throwable {
        seen.submitted.increment();
        try {
            Object value = test.engine.call(spec, () -> limit.run(turn, body));
            seen.add(null);
            return value;
        } catch (Throwable failure) {
            seen.add(failure);
            throw failure;
        }
    }

    TaskSpec spec(StressLimit limit) {
        return test.engine.spec("Stress.task", limit.settings.name());
    }

    @Override
    public void close() throws InterruptedException {
        canceller.interrupt();
        canceller.join(ENOUGH);
        test.close();
    }
}
