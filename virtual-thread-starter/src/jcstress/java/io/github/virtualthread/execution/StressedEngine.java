package io.github.virtualthread.execution;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitRequest;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/** An engine with one limit of one permit, made anew for each of a great many races. */
final class StressedEngine {

    /** So long that only what never comes is not there by then. */
    private static final long LONG = Duration.ofSeconds(5).toNanos();

    private static final TaskTimer TIMER = new TaskTimer("timer");

    static {
        // a line for each engine that stops, and for each that rejects, would be all that is measured
        ((Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME)).setLevel(Level.ERROR);
    }

    private final TaskLimits limits = new TaskLimits(List.of(LimitSettings.of("db", 1)), TIMER, change -> {});
    final TaskEngine engine;

    StressedEngine(TaskListener... listeners) {
        engine = new TaskEngine(
                limits,
                ContextPropagation.none(),
                TIMER,
                new TaskThreads("vt-", StressedEngine.class.getClassLoader()),
                new CallExtensions(() -> List.of(listeners), List::of),
                false);
    }

    CompletableFuture<@Nullable Object> submit(@Nullable Duration timeout, TaskBody body) {
        return engine.submit(engine.spec("Stress.task", "db", timeout), body);
    }

    /** With a deadline. Between its entry in the timer and its place in the queue, some time passes at random. */
    CompletableFuture<@Nullable Object> submitLate(Duration deadline, int mostSpins, TaskBody body) {
        TaskSpec spec = engine.spec("Stress.task", "db", null, deadline);
        Task late = new Task(spec, body, null) {
            @Override
            @Nullable
            Reason askForPermit(long timeLeft) {
                spin(mostSpins);
                return super.askForPermit(timeLeft);
            }
        };
        engine.submit(late);
        return late.future();
    }

    /** A deadline so short that the timer comes at about the time of what the submission does. */
    static Duration soon(int mostMicros) {
        return Duration.ofNanos(ThreadLocalRandom.current().nextLong(1_000, mostMicros * 1_000L));
    }

    TaskLimit limit() {
        return limits.get("db");
    }

    /** Holds the permit, without a thread. */
    Holder hold() {
        return new Holder(limit());
    }

    /** Whether every call has ended, after some time. */
    boolean ends() {
        return becomes(engine::isIdle);
    }

    static boolean becomes(BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begin > LONG) {
                return false;
            }
            Thread.yield();
        }
        return true;
    }

    /** Shifts one of two actors, so that they meet at every point of what the other does. */
    static void spin(int most) {
        for (int left = ThreadLocalRandom.current().nextInt(most); left > 0; left--) {
            Thread.onSpinWait();
        }
    }

    static final class Holder extends PermitRequest {

        private final TaskLimit limit;

        private Holder(TaskLimit limit) {
            this.limit = limit;
            ask(Long.MAX_VALUE);
        }

        @Override
        protected TaskLimit limit() {
            return limit;
        }

        void release() {
            giveBack();
        }

        @Override
        protected void granted() {}

        @Override
        protected void onStartFailed(Throwable failure) {
            throw new IllegalStateException("Nothing fails when this is granted", failure);
        }

        @Override
        protected void reportRejected(@Nullable Reason reason) {
            throw new IllegalStateException("This never waits, but was rejected: " + reason);
        }

        @Override
        protected void reportSoon() {}
    }
}
