package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.CallTimeoutException.Kind;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** What tests of deadlines have in common. */
final class Late {

    static final Duration SOON = Duration.ofMillis(100);

    /** Never passes within a test. */
    static final Duration LONG = Duration.ofHours(1);

    private Late() {}

    static TaskSpec spec(TestEngine test, @Nullable String limit, Duration deadline) {
        return test.engine.spec("Test.late", limit, null, deadline);
    }

    /** Runs a task on a thread whose deadline has passed. */
    static <T extends @Nullable Object> T overdue(Callable<T> task) throws Exception {
        return Deadline.call(Duration.ofMillis(1), () -> {
            awaitOver();
            return task.call();
        });
    }

    /** Until the deadline of the current thread has passed. */
    static void awaitOver() {
        while (Deadline.remaining().orElseThrow().isPositive()) {
            Thread.onSpinWait();
        }
    }

    /** A call on a thread of its own. */
    static CompletableFuture<@Nullable Object> on(Thread.Builder threads, TaskBody call) {
        CompletableFuture<@Nullable Object> outcome = new CompletableFuture<>();
        Thread unused = threads.start(() -> {
            try {
                outcome.complete(call.run());
            } catch (Throwable failure) {
                outcome.completeExceptionally(failure);
            }
        });
        return outcome;
    }

    static @Nullable Object callOf(TestEngine test, TaskSpec spec, TaskBody body) throws Exception {
        try {
            return test.engine.call(spec, body);
        } catch (Throwable failure) {
            throw Failures.asException(failure);
        }
    }

    static void assertRefused(CompletableFuture<?> future) throws Exception {
        assertRefused(failureOf(future));
    }

    static void assertRefused(@Nullable Throwable failure) {
        assertThat(failure).isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.reason())
                .isEqualTo(Reason.DEADLINE));
    }

    static void assertThrowsRefusal(Callable<?> call) {
        assertRefused(catchThrowable(call::call));
    }

    /** How many deadlines the timer knows. Those of hours are none of tasks that have ended. */
    static long inTimer(TestEngine test) {
        return TimerEntries.count(test.timer, TimeBounds.class);
    }

    /** A task has ended a moment before its entry goes. */
    static void awaitNoneInTimer(TestEngine test) {
        TestEngine.awaitIdle(test);
        Awaitility.await().atMost(TestEngine.ENOUGH).until(() -> inTimer(test) == 0);
    }

    /** A call whose deadline passed while its body ran: its deadline, and its failure. */
    record Overrun(Duration deadline, Throwable failure) {}

    /** Gives a call more time until its body has begun within that, however long this machine takes to start a thread. */
    static Overrun overrun(Function<Duration, CompletableFuture<?>> call) throws Exception {
        Duration deadline = SOON;
        Throwable failure = failureOf(call.apply(deadline));
        while (failure instanceof LimitExceededException) {
            assertRefused(failure);
            deadline = deadline.multipliedBy(2);
            failure = failureOf(call.apply(deadline));
        }
        return new Overrun(deadline, Objects.requireNonNull(failure));
    }

    static void assertOverdue(Function<Duration, CompletableFuture<?>> call, String message) throws Exception {
        Overrun late = overrun(call);
        assertThat(late.failure())
                .isInstanceOfSatisfying(CallTimeoutException.class, timeout -> {
                    assertThat(timeout.kind()).isEqualTo(Kind.DEADLINE);
                    assertThat(timeout.bound()).isEqualTo(late.deadline());
                })
                .hasMessage(message, Durations.text(late.deadline()));
    }

    /** As a continuation of the future gets it. */
    static @Nullable Throwable failureOf(CompletableFuture<?> future) throws Exception {
        return future.handle((value, failure) -> failure).get(2, TimeUnit.MINUTES);
    }

    static @Nullable Object valueOf(CompletableFuture<?> future) throws Exception {
        return future.get(2, TimeUnit.MINUTES);
    }
}
