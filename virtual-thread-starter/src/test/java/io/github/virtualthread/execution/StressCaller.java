package io.github.virtualthread.execution;

import io.github.virtualthread.execution.StressLimit.Turn;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One thread that makes calls, and never has more than a few open. */
final class StressCaller {

    private static final int OPEN = 50;
    private static final Duration SOON = Duration.ofMillis(1);
    private static final Kind[] KINDS = Kind.values();

    private enum Kind {
        RETURNS,
        RETURNS_A_FUTURE,
        THROWS,
        THROWS_AN_ERROR,
        OVERFLOWS_ITS_STACK,
        INTERRUPTS_ITSELF,
        HAS_NO_THREAD,
        TAKES_TOO_LONG,
        IS_LATE,
        IS_IN_TIME,
        CALLS_UNTIL_IT_IS_LATE,
        IS_CANCELLED_AT_ONCE,
        IS_CANCELLED_ONCE_IT_RUNS,
        IS_COMPLETED_BY_ITS_CALLER,
        CALLS_ANOTHER_LIMIT,
        SUBMITS_UNDER_ANOTHER_LIMIT,
        SUBMITS_UNDER_ITS_OWN_LIMIT,
        CALLS_ITS_OWN_LIMIT,
        RUNS_HERE,
        RUNS_HERE_IN_TIME
    }

    private final StressLoad load;
    private final SplittableRandom random;
    private final Queue<CompletableFuture<?>> open = new ArrayDeque<>();

    StressCaller(StressLoad load, SplittableRandom random) {
        this.load = load;
        this.random = random;
    }

    @Nullable
    Object calls(int number, CountDownLatch made) throws Exception {
        for (int i = 0; i < number; i++) {
            open.add(make());
            made.countDown();
            if (random.nextInt(10) == 0) {
                load.changes.release();
            }
            if (open.size() > OPEN) {
                end(open.remove());
            }
        }
        for (CompletableFuture<?> call : open) {
            end(call);
        }
        return null;
    }

    private static void end(CompletableFuture<?> call) throws Exception {
        call.handle((value, failure) -> failure).get(2, TimeUnit.MINUTES);
    }

    private CompletableFuture<?> make() {
        int place = random.nextInt(load.limits.size());
        StressLimit limit = load.limits.get(place);
        // limits ask only later ones for more: they never wait for each other
        StressLimit later = load.limits.get(place + random.nextInt(load.limits.size() - place));
        Turn turn = new Turn();
        Kind kind = KINDS[random.nextInt(KINDS.length)];
        return switch (kind) {
            case RUNS_HERE -> {
                try {
                    load.call(load.spec(limit), limit, turn, () -> end(random.nextInt(2) == 0));
                } catch (Throwable counted) {
                    // by the load
                }
                yield CompletableFuture.completedFuture(null);
            }
            case RUNS_HERE_IN_TIME -> {
                try {
                    load.call(spec(limit, SOON), limit, turn, () -> end(true));
                } catch (Throwable counted) {
                    // by the load
                }
                yield CompletableFuture.completedFuture(null);
            }
            case IS_LATE -> load.submit(spec(limit, SOON), limit, turn, StressLoad::untilInterrupted);
            case IS_IN_TIME -> load.submit(spec(limit, Duration.ofHours(1)), limit, turn, () -> end(true));
            case CALLS_UNTIL_IT_IS_LATE -> load.submit(spec(limit, SOON), limit, turn, () -> nested(limit, later));
            case IS_CANCELLED_AT_ONCE -> {
                int spins = random.nextInt(200);
                CompletableFuture<?> call = submit(limit, turn, StressLoad::untilInterrupted);
                for (int spin = spins; spin > 0; spin--) {
                    Thread.onSpinWait();
                }
                call.cancel(true);
                yield call;
            }
            case IS_CANCELLED_ONCE_IT_RUNS -> {
                CompletableFuture<CompletableFuture<?>> itself = new CompletableFuture<>();
                CompletableFuture<?> call = submit(limit, turn, load.cancelledOnceItRuns(itself));
                itself.complete(call);
                yield call;
            }
            case IS_COMPLETED_BY_ITS_CALLER -> {
                CompletableFuture<@Nullable Object> call = submit(limit, turn, () -> end(false));
                call.complete("user");
                yield call;
            }
            case TAKES_TOO_LONG ->
                load.submit(
                        load.test.engine.spec("Stress.timed", limit.settings.name(), Duration.ofMillis(1)),
                        limit,
                        turn,
                        StressLoad::untilInterrupted);
            case HAS_NO_THREAD -> {
                ThreadFactory none = body -> {
                    throw new OutOfMemoryError("no thread");
                };
                yield load.submit(load.test.spec(limit.settings.name(), none), limit, turn, () -> end(false));
            }
            case CALLS_ANOTHER_LIMIT -> submit(limit, turn, () -> nested(limit, later));
            case CALLS_ITS_OWN_LIMIT -> submit(limit, turn, () -> nested(limit, limit));
            case SUBMITS_UNDER_ANOTHER_LIMIT ->
                submit(limit, turn, () -> waitsForItself(limit, later) ? null : submit(later, null, () -> end(true)));
            case SUBMITS_UNDER_ITS_OWN_LIMIT ->
                submit(limit, turn, () -> waitsForItself(limit, limit) ? null : submit(limit, null, () -> end(true)));
            default -> submit(limit, turn, () -> end(kind));
        };
    }

    private TaskSpec spec(StressLimit limit, Duration deadline) {
        return load.test.engine.spec("Stress.late", limit.settings.name(), null, deadline);
    }

    private CompletableFuture<@Nullable Object> submit(StressLimit limit, @Nullable Turn turn, TaskBody body) {
        return load.submit(load.spec(limit), limit, turn, body);
    }

    /** A task under its own limit: only where such a call is refused instead. */
    private static boolean waitsForItself(StressLimit limit, StressLimit other) {
        return other == limit && limit.settings.nested() != Nested.FAIL;
    }

    /**
     * Under its own limit it is a part of the same call: nobody counts or hears it, unless the deadline of that call is over before it
     * begins.
     */
    private @Nullable Object nested(StressLimit limit, StressLimit other) throws Throwable {
        if (other != limit) {
            return load.call(load.spec(other), other, null, () -> end(true));
        }
        try {
            return load.test.engine.call(load.spec(limit), () -> end(true));
        } catch (LimitExceededException overdue) {
            load.seen.submitted.increment();
            load.seen.add(overdue);
            throw overdue;
        }
    }

    private static @Nullable Object end(boolean well) throws IOException {
        Thread.yield();
        if (!well) {
            throw new IOException("stress");
        }
        return "value";
    }

    private static @Nullable Object end(Kind kind) throws Exception {
        return switch (kind) {
            case RETURNS_A_FUTURE -> new CompletableFuture<>().completeOnTimeout("late", 50, TimeUnit.MICROSECONDS);
            case THROWS -> end(false);
            case THROWS_AN_ERROR -> throw new AssertionError("stress");
            case OVERFLOWS_ITS_STACK -> overflow();
            case INTERRUPTS_ITSELF -> {
                Thread.currentThread().interrupt();
                yield "interrupted";
            }
            default -> end(true);
        };
    }

    @SuppressWarnings("InfiniteRecursion")
    private static Object overflow() {
        return overflow().hashCode();
    }
}
