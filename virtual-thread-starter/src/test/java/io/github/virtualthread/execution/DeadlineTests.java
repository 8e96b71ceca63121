package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A deadline bounds wait and run together, and what the body calls. */
@Timeout(300)
class DeadlineTests {

    private static final Duration SOON = Duration.ofMillis(100);

    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void aCallWhoseDeadlinePassesWhileItWaitsLeavesTheQueueFromTheMiddle() throws Exception {
        CountDownLatch until = test.latch();
        test.hold("db", until);
        AtomicBoolean ran = new AtomicBoolean();
        CompletableFuture<?> before = test.submit("db", () -> "before");
        CompletableFuture<?> late = test.engine.submit(spec("db"), () -> {
            ran.set(true);
            return "ran";
        });
        CompletableFuture<?> after = test.submit("db", () -> "after");

        assertRefused(late);

        assertThat(test.limits.get("db").waiting()).isEqualTo(2);
        until.countDown();
        assertThat(before.get(2, TimeUnit.MINUTES)).isEqualTo("before");
        assertThat(after.get(2, TimeUnit.MINUTES)).isEqualTo("after");
        assertThat(ran).isFalse();
    }

    @Test
    void aCallThatIsMadeAfterTheDeadlineIsRefusedAtOnce() throws Exception {
        overdue(() -> {
            assertRefused(test.submit("db", () -> "ran"));
            assertRefused(test.submit(null, () -> "ran"));
            assertThatThrownBy(() -> test.engine.call(test.engine.spec("Test.call", "db"), () -> "ran"))
                    .isInstanceOf(LimitExceededException.class);
            assertThatThrownBy(() -> test.engine.call(test.engine.spec("Test.call", null), () -> "ran"))
                    .hasMessageContaining(
                            "Test.call was rejected (DEADLINE): its deadline of 0.001s passed before it began");
            return null;
        });
        assertThat(test.limits.get("db").available()).isEqualTo(1);
    }

    @Test
    void aBodyThatRunsIsInterrupted() throws Exception {
        CompletableFuture<?> late = test.engine.submit(spec("db"), () -> {
            test.latch().await();
            return "ran";
        });

        assertThat(failureOf(late))
                .isInstanceOf(TimeoutException.class)
                .hasMessage("Test.late ran past its deadline of 0.1s under limit 'db' and was interrupted");
    }

    @Test
    void aCallerWaitsNoLonger() throws Exception {
        test.hold("db", test.latch());

        for (Thread.Builder threads : new Thread.Builder[] {Thread.ofVirtual(), Thread.ofPlatform()}) {
            CompletableFuture<@Nullable Object> outcome = new CompletableFuture<>();
            threads.start(() -> {
                try {
                    outcome.complete(test.engine.call(spec("db"), () -> "ran"));
                } catch (Throwable failure) {
                    outcome.completeExceptionally(failure);
                }
            });
            assertRefused(outcome);
        }
        assertThat(test.limits.get("db").waiting()).isZero();
    }

    @Test
    void aNestedCallHasWhatIsLeft() throws Exception {
        CompletableFuture<Throwable> inner = new CompletableFuture<>();
        CompletableFuture<?> outer = test.engine.submit(spec("db"), () -> {
            test.submit(null, () -> {
                        test.latch().await();
                        return "ran";
                    })
                    .whenComplete((value, failure) -> inner.complete(failure));
            test.latch().await();
            return "ran";
        });

        assertThat(inner.get(2, TimeUnit.MINUTES))
                .isInstanceOf(TimeoutException.class)
                .hasMessage("Test.task ran past its caller's deadline of 0.1s under limit 'none' and was interrupted");
        assertThat(failureOf(outer)).isInstanceOf(TimeoutException.class);
    }

    @Test
    void whatFollowsACallHasTheDeadlineOfTheCaller() throws Exception {
        CompletableFuture<Object> fallback = test.engine
                .submit(spec("db"), () -> {
                    test.latch().await();
                    return "ran";
                })
                .handle((value, failure) -> {
                    assertThat(Deadline.remaining()).isEmpty();
                    return test.submit("db", () -> "fallback").join();
                });

        assertThat(fallback.get(2, TimeUnit.MINUTES)).isEqualTo("fallback");
    }

    @Test
    void aCallWithoutAResultDoesNotInherit() throws Exception {
        CompletableFuture<Object> mail = new CompletableFuture<>();
        overdue(() -> {
            test.engine.execute(
                    test.engine.spec("Test.mail", "db"),
                    () -> mail.complete(Deadline.remaining().isEmpty()),
                    mail::completeExceptionally);
            return null;
        });
        assertThat(mail.get(2, TimeUnit.MINUTES)).isEqualTo(true);
    }

    private TaskSpec spec(@Nullable String limit) {
        return test.engine.spec("Test.late", limit, null, SOON);
    }

    private static void overdue(java.util.concurrent.Callable<Void> task) throws Exception {
        Deadline.call(Duration.ofMillis(1), () -> {
            while (Deadline.remaining().orElseThrow().isPositive()) {
                Thread.onSpinWait();
            }
            return task.call();
        });
    }

    private static void assertRefused(CompletableFuture<?> future) throws Exception {
        assertThat(failureOf(future))
                .isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.reason())
                        .isEqualTo(Reason.DEADLINE));
    }

    private static Throwable failureOf(CompletableFuture<?> future) throws Exception {
        return future.handle((value, failure) -> failure).get(2, TimeUnit.MINUTES);
    }
}
