package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.springframework.core.task.TaskDecorator;

/**
 * An engine with limits, and the waiting that tests need: always bounded, never interrupted in silence. Registered as an
 * extension, it opens its latches and is closed after each test.
 */
final class TestEngine implements AfterEachCallback, AutoCloseable {

    static final Duration NO_TIME = Duration.ZERO;
    static final Duration ENOUGH = Duration.ofMinutes(5);

    /** Class loader of the application, which is not that of the JVM. */
    static final ClassLoader APPLICATION = new ClassLoader(TestEngine.class.getClassLoader()) {};

    final TaskTimer timer = new TaskTimer("timer");
    final TaskLimits limits;
    final TaskEngine engine;
    private final List<CountDownLatch> latches = new ArrayList<>();

    TestEngine(LimitSettings... settings) {
        this(ContextPropagation.none().withMdc(), settings);
    }

    TestEngine(ContextPropagation propagation, LimitSettings... settings) {
        this(propagation, TimeBounds.GRACE, EngineParts.PLATFORM_WAIT, settings);
    }

    TestEngine(Duration grace, Duration platformWait, LimitSettings... settings) {
        this(ContextPropagation.none().withMdc(), grace, platformWait, settings);
    }

    TestEngine(TaskListener listener, LimitSettings... settings) {
        this(ContextPropagation.none().withMdc(), List.of(listener), List.of(), false, settings);
    }

    static TestEngine listening(List<TaskListener> listeners, LimitSettings... settings) {
        return new TestEngine(ContextPropagation.none().withMdc(), listeners, List.of(), false, settings);
    }

    private TestEngine(
            ContextPropagation propagation, Duration grace, Duration platformWait, LimitSettings... settings) {
        this(propagation, grace, platformWait, List.of(), List.of(), false, settings);
    }

    private TestEngine(
            ContextPropagation propagation,
            List<TaskListener> listeners,
            List<TaskDecorator> decorators,
            boolean callerTrace,
            LimitSettings... settings) {
        this(propagation, TimeBounds.GRACE, EngineParts.PLATFORM_WAIT, listeners, decorators, callerTrace, settings);
    }

    /** Failures also show where their calls were made. */
    static TestEngine tracingCallers(LimitSettings... settings) {
        return new TestEngine(ContextPropagation.none(), List.of(), List.of(), true, settings);
    }

    /** The first decorator is the innermost. */
    static TestEngine decorating(List<TaskDecorator> decorators, LimitSettings... settings) {
        return new TestEngine(ContextPropagation.none().withMdc(), List.of(), decorators, false, settings);
    }

    private TestEngine(
            ContextPropagation propagation,
            Duration grace,
            Duration platformWait,
            List<TaskListener> listeners,
            List<TaskDecorator> decorators,
            boolean callerTrace,
            LimitSettings... settings) {
        limits = new TaskLimits(List.of(settings), timer, change -> {});
        TaskThreads threads = new TaskThreads("vt-", APPLICATION);
        Rejections rejections = new Rejections(timer, Duration.ofMinutes(1));
        EngineParts parts = new EngineParts(
                new Gate(),
                propagation,
                new TaskDecorators(new LazyBeans<>("Task decorators", () -> decorators)),
                threads,
                timer,
                new LiveTasks(),
                new PermitHolders(),
                new TaskListeners(new LazyBeans<>("Task listeners", () -> listeners)),
                rejections,
                callerTrace,
                new TimeBounds(timer, threads, rejections, grace),
                platformWait);
        engine = new TaskEngine(limits, parts);
    }

    /** For bodies to wait at: opens when the engine is closed, if the test has not opened it before. */
    CountDownLatch latch() {
        CountDownLatch latch = new CountDownLatch(1);
        latches.add(latch);
        return latch;
    }

    /** Under the limit of that name, null for none. */
    CompletableFuture<@Nullable Object> submit(@Nullable String limit, TaskBody body) {
        return engine.submit(engine.spec("Test.task", limit), body);
    }

    CompletableFuture<@Nullable Object> submit(@Nullable String limit, ThreadFactory threads, TaskBody body) {
        return engine.submit(spec(limit, threads), body);
    }

    /** A task on threads of one's own. */
    TaskSpec spec(@Nullable String limit, ThreadFactory threads) {
        return new EngineSpec(
                "Test.task",
                limit == null ? null : limits.get(limit),
                null,
                null,
                new TaskThreads.Named(threads, "vt-Test.task-"),
                engine.parts());
    }

    /** A body that holds its permit until the latch opens; it runs when this returns. */
    CompletableFuture<@Nullable Object> hold(@Nullable String limit, CountDownLatch until) {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<@Nullable Object> held = submit(limit, () -> {
            running.countDown();
            until.await();
            return "held";
        });
        await(running);
        return held;
    }

    /** The same by a body that no interrupt ends; it leaves the flag set. */
    CompletableFuture<@Nullable Object> holdStubbornly(@Nullable String limit, CountDownLatch until) {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<@Nullable Object> held = submit(limit, () -> {
            running.countDown();
            awaitStubbornly(until);
            return "held";
        });
        await(running);
        return held;
    }

    /** Bodies that never let go of their carriers, until the latch opens; they run when this returns. */
    List<CompletableFuture<@Nullable Object>> keepCarriers(int number, CountDownLatch until) {
        CountDownLatch running = new CountDownLatch(number);
        List<CompletableFuture<@Nullable Object>> kept = Stream.generate(() -> submit(null, () -> {
                    running.countDown();
                    while (until.getCount() > 0) {
                        Thread.onSpinWait();
                    }
                    return null;
                }))
                .limit(number)
                .toList();
        await(running);
        return kept;
    }

    /** A thread that stops the engine, and gives calls that period. */
    Thread stopping(Duration period) {
        return Thread.ofPlatform().start(() -> engine.stop(period));
    }

    TaskLimit limit(String name) {
        return limits.get(name);
    }

    /** The thread of the oldest call that runs under that limit. */
    Thread thread(String limit) {
        return Objects.requireNonNull(
                engine.liveCalls().running(limit(limit)).get(0).thread());
    }

    static void await(CountDownLatch latch) {
        try {
            if (!latch.await(2, TimeUnit.MINUTES)) {
                throw new AssertionError("nobody came within 2 minutes");
            }
        } catch (InterruptedException interrupted) {
            throw new AssertionError("interrupted", interrupted);
        }
    }

    /** Blocks whatever happens to the thread. */
    static void awaitStubbornly(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException ignored) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** A thread tells nobody that it parks: its state is asked until it does. */
    static void awaitParked(Thread thread) {
        long begin = System.nanoTime();
        while (thread.getState() != Thread.State.WAITING) {
            if (!thread.isAlive() || System.nanoTime() - begin > ENOUGH.toNanos()) {
                throw new AssertionError("not parked but " + thread.getState());
            }
            Thread.yield();
        }
    }

    /**
     * What may block runs neither on the thread of a caller nor on that of the timer. It runs on a virtual thread, or, if no carrier
     * takes that within 50 ms, on a platform thread: that is so on a busy machine too.
     */
    void assertMayBlock(Thread thread) {
        CompletableFuture<Thread> ofTimer = new CompletableFuture<>();
        Future<?> unused = timer.schedule(() -> ofTimer.complete(Thread.currentThread()), 0);
        assertThat(ofTimer).succeedsWithin(2, TimeUnit.MINUTES).isNotSameAs(thread);
        assertThat(thread).isNotSameAs(Thread.currentThread());
    }

    /** To AssertJ's {@code failsWithin} a future that is still open when the time is over has failed too. */
    static void assertFails(CompletableFuture<?> future) {
        assertThat(future.handle((value, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
    }

    static void assertRejected(CompletableFuture<?> call, Reason reason) {
        assertFails(call);
        assertRejected(call.exceptionNow(), reason);
    }

    static void assertThrowsRejection(Reason reason, ThrowingCallable call) {
        assertRejected(catchThrowable(call), reason);
    }

    static void assertRejected(@Nullable Throwable failure, Reason reason) {
        assertThat(failure)
                .isInstanceOfSatisfying(LimitExceededException.class, rejection -> assertThat(rejection.reason())
                        .isEqualTo(reason));
    }

    /** Nobody runs, waits or is remembered under any limit. */
    void assertAllPermitsAreBack() {
        assertThat(limits.all()).allSatisfy(limit -> {
            assertThat(limit.available()).isEqualTo(limit.permits());
            assertThat(limit.waiting()).isZero();
            assertThat(limit.keys()).isZero();
        });
    }

    static void awaitIdle(TestEngine test) {
        long begin = System.nanoTime();
        while (!test.engine.isIdle()) {
            if (System.nanoTime() - begin > ENOUGH.toNanos()) {
                throw new AssertionError("calls still run");
            }
            Thread.yield();
        }
    }

    static void awaitRejected(TestEngine test, String limit, long number) {
        long begin = System.nanoTime();
        while (test.engine.parts().rejections().total(limit) < number) {
            if (System.nanoTime() - begin > ENOUGH.toNanos()) {
                throw new AssertionError(
                        "only " + test.engine.parts().rejections().total(limit) + " were rejected");
            }
            Thread.yield();
        }
    }

    /** Asks with calls until one is refused: then somebody else is stopping the engine. */
    static void awaitDraining(TestEngine test) {
        long begin = System.nanoTime();
        while (!test.submit(null, () -> null)
                .handle((value, failure) -> failure != null)
                .join()) {
            if (System.nanoTime() - begin > ENOUGH.toNanos()) {
                throw new AssertionError("nobody stops the engine");
            }
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        close();
    }

    @Override
    public void close() {
        latches.forEach(CountDownLatch::countDown);
        engine.close();
        timer.close();
    }
}
