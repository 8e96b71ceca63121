package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.Late.LONG;
import static io.github.virtualthread.execution.Late.SOON;
import static io.github.virtualthread.execution.Late.assertOverdue;
import static io.github.virtualthread.execution.Late.assertRefused;
import static io.github.virtualthread.execution.Late.assertThrowsRefusal;
import static io.github.virtualthread.execution.Late.overdue;
import static io.github.virtualthread.execution.Late.valueOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which calls have what is left of the deadline of their caller, and which have not. */
@Timeout(300)
@Tag("jdk")
class DeadlineInheritanceTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1), LimitSettings.of("ten", 10));

    private final BlockingQueue<Throwable> uncaught = new LinkedBlockingQueue<>();
    private final VirtualThreads threads = new VirtualThreads(test.engine, (name, failure) -> uncaught.add(failure));

    private Object blocks() throws InterruptedException {
        test.latch().await();
        return "ran";
    }

    private static Optional<Duration> left() {
        return Deadline.remaining();
    }

    private static void assertInherited(Object left) {
        Object time = ((Optional<?>) left).orElseThrow();
        assertThat((Duration) time).isPositive().isLessThan(LONG);
    }

    private static <T> T deadlineOf(Duration length, Callable<T> task) {
        try {
            return Deadline.call(length, task);
        } catch (Exception unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private void inTime(Callable<?> task) throws Exception {
        Deadline.call(LONG, task);
    }

    @Test
    void aNestedCallHasWhatIsLeft() throws Exception {
        assertOverdue(
                deadline -> {
                    CompletableFuture<Object> inner = new CompletableFuture<>();
                    test.engine
                            .submit(Late.spec(test, "db", deadline), () -> {
                                test.submit("ten", this::blocks)
                                        .whenComplete((value, failure) -> inner.completeExceptionally(failure));
                                return blocks();
                            })
                            .whenComplete((value, failure) -> {
                                if (failure instanceof LimitExceededException) {
                                    inner.completeExceptionally(failure);
                                }
                            });
                    return inner;
                },
                "Test.task ran past its caller's deadline of %s under limit 'ten' and was interrupted");
    }

    @Test
    void theEarlierOfOwnAndInheritedCounts() throws Exception {
        inTime(() -> {
            assertOverdue(
                    deadline -> test.engine.submit(Late.spec(test, "db", deadline), this::blocks),
                    "Test.late ran past its deadline of %s under limit 'db' and was interrupted");
            return null;
        });
        assertOverdue(
                deadline -> deadlineOf(deadline, () -> test.engine.submit(Late.spec(test, "db", LONG), this::blocks)),
                "Test.late ran past its caller's deadline of %s under limit 'db' and was interrupted");
        assertInherited(Deadline.call(LONG, () -> Deadline.call(LONG.multipliedBy(2), Deadline::remaining)));
        assertInherited(Deadline.call(LONG.multipliedBy(2), () -> Deadline.call(LONG, Deadline::remaining)));
    }

    @Test
    void everyCallThatSomebodyWaitsForInherits() throws Exception {
        inTime(() -> {
            assertInherited(valueOf(test.submit("db", DeadlineInheritanceTests::left)));
            assertInherited(valueOf(threads.submit(DeadlineInheritanceTests::left)));
            assertInherited(valueOf(threads.submit("db", DeadlineInheritanceTests::left)));
            assertInherited(threads.call("db", DeadlineInheritanceTests::left));
            assertInherited(Late.callOf(test, test.engine.spec("Test.call", null), DeadlineInheritanceTests::left));
            threads.all(
                            "ten",
                            List.<Callable<Object>>of(DeadlineInheritanceTests::left, DeadlineInheritanceTests::left))
                    .forEach(DeadlineInheritanceTests::assertInherited);
            assertInherited(threads.anySuccessful(List.<Callable<Object>>of(DeadlineInheritanceTests::left)));
            assertInherited(threads.executor("db")
                    .submit((Callable<Object>) DeadlineInheritanceTests::left)
                    .get());
            assertInherited(threads.forKey("acme").call("db", DeadlineInheritanceTests::left));
            assertInherited(valueOf(threads.forKey("acme").submit("db", DeadlineInheritanceTests::left)));
            return null;
        });
        assertThat(valueOf(test.submit("db", DeadlineInheritanceTests::left))).isEqualTo(Optional.empty());
    }

    @Test
    void everyCallThatSomebodyWaitsForIsRefusedWhenTheTimeIsOver() throws Exception {
        Callable<Object> never = () -> "ran";
        overdue(() -> {
            assertRefused(threads.submit(never));
            assertThrowsRefusal(() -> threads.call("db", never));
            assertThrowsRefusal(() -> threads.all("ten", List.of(never, never)));
            assertThrowsRefusal(() -> threads.anySuccessful("ten", List.of(never, never)));
            assertThrowsRefusal(() -> threads.executor("db").submit(never));
            assertThrowsRefusal(() -> threads.forKey("acme").call("db", never));
            return null;
        });
        assertThat(uncaught).isEmpty();
    }

    @Test
    void noCallWithoutAResultInherits() throws Exception {
        BlockingQueue<Optional<Duration>> seen = new LinkedBlockingQueue<>();
        Runnable mail = () -> seen.add(Deadline.remaining());
        overdue(() -> {
            test.engine.execute(
                    test.engine.spec("Test.mail", "db"),
                    TaskBody.of(() -> {
                        mail.run();
                        return null;
                    }),
                    (task, failure) -> uncaught.add(failure));
            threads.execute(mail);
            threads.execute("db", mail);
            threads.executor().execute(mail);
            threads.forKey("acme").execute("db", mail);
            assertThat(Deadline.remaining()).contains(Duration.ZERO);
            return null;
        });
        for (int i = 0; i < 5; i++) {
            assertThat(seen.poll(2, TimeUnit.MINUTES)).isEqualTo(Optional.empty());
        }
        assertThat(uncaught).isEmpty();
    }

    @Test
    void aCallWithoutAResultHasItsOwn() throws Exception {
        assertOverdue(
                deadline -> {
                    CompletableFuture<Object> outcome = new CompletableFuture<>();
                    test.engine.execute(
                            Late.spec(test, "db", deadline),
                            this::blocks,
                            (task, failure) -> outcome.completeExceptionally(failure));
                    return outcome;
                },
                "Test.late ran past its deadline of %s under limit 'db' and was interrupted");
    }

    @Test
    void theHandlerOfACallWithoutAResultHasNoDeadline() throws Exception {
        BlockingQueue<Optional<Duration>> seen = new LinkedBlockingQueue<>();
        CountDownLatch until = test.latch();
        test.hold("db", until);
        inTime(() -> {
            test.engine.execute(
                    Late.spec(test, "db", SOON), this::blocks, (task, failure) -> seen.add(Deadline.remaining()));
            test.engine.execute(
                    Late.spec(test, null, SOON), this::blocks, (task, failure) -> seen.add(Deadline.remaining()));
            return null;
        });

        assertThat(seen.poll(2, TimeUnit.MINUTES)).isEqualTo(Optional.empty());
        assertThat(seen.poll(2, TimeUnit.MINUTES)).isEqualTo(Optional.empty());
    }

    @Test
    void theFirstOfAllThatIsLateEndsTheRest() throws Exception {
        Throwable failure = catchThrowable(
                () -> Deadline.call(SOON, () -> threads.all("ten", List.of(this::blocks, this::blocks))));

        if (failure instanceof TimeoutException) {
            assertThat(failure).hasMessageContaining("past its caller's deadline of 0.1s");
        } else {
            assertRefused(failure);
        }
        TestEngine.awaitIdle(test);
        assertThat(test.limit("ten").available()).isEqualTo(10);
    }

    @Test
    void aReenteredCallInheritsAndIsRefusedWhenTheTimeIsOver() throws Exception {
        TaskSpec db = test.engine.spec("Test.call", "db");
        assertInherited(Deadline.call(LONG, () -> threads.call("db", () -> threads.call("db", Deadline::remaining))));

        Object cleanedUp = Late.callOf(
                test,
                db,
                () -> overdue(() -> {
                    assertThrowsRefusal(() -> threads.call("db", () -> "ran"));
                    return Deadline.callWithout(() -> threads.call("db", () -> "cleaned up"));
                }));

        assertThat(cleanedUp).isEqualTo("cleaned up");
    }

    @Test
    void whatFollowsACallHasTheDeadlineOfTheCaller() throws Exception {
        CompletableFuture<?> fallback = test.engine
                .submit(Late.spec(test, "db", SOON), this::blocks)
                .handle((value, failure) -> {
                    assertThat(Deadline.remaining()).isEmpty();
                    return test.submit("db", () -> "fallback").join();
                });
        assertThat(valueOf(fallback)).isEqualTo("fallback");

        inTime(() -> {
            assertInherited(valueOf(test.engine
                    .submit(Late.spec(test, "db", SOON), this::blocks)
                    .exceptionally(failure -> Deadline.remaining())));
            assertInherited(valueOf(test.engine
                    .submit(Late.spec(test, "db", LONG), () -> "value")
                    .<Object>thenApply(value -> Deadline.remaining())));
            return null;
        });
    }

    @Test
    void whatFollowsARefusalHasTheDeadlineOfTheCaller() throws Exception {
        CountDownLatch until = test.latch();
        test.hold("db", until);
        CompletableFuture<?> fallback = test.engine
                .submit(Late.spec(test, "db", SOON), () -> "ran")
                .exceptionally(failure -> {
                    assertRefused(failure);
                    return test.submit("ten", () -> "fallback").join();
                });
        assertThat(valueOf(fallback)).isEqualTo("fallback");

        CompletableFuture<?> tooLate = overdue(() -> test.submit("ten", () -> "ran")
                .exceptionally(failure -> test.submit("ten", () -> "ran").join()));
        assertThatThrownBy(tooLate::join).cause().satisfies(Late::assertRefused);
    }

    @Test
    void theBodyOfACallHasNoMoreThanItsCaller() throws Exception {
        assertThat(Deadline.callWithout(Deadline::remaining)).isEmpty();
        inTime(() -> {
            assertThat(Deadline.callWithout(() -> valueOf(test.submit("db", DeadlineInheritanceTests::left))))
                    .isEqualTo(Optional.empty());
            assertInherited(Deadline.remaining());
            return null;
        });
        assertThat(Deadline.remaining()).isEmpty();
    }
}
