package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertRejected;
import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls on a thread that holds a permit of the same limit: which thread does, and which does not. */
@Timeout(300)
@Tag("jdk")
class ReentryTests {

    private final Queue<String> heard = new ConcurrentLinkedQueue<>();

    private final TaskListener listener = new TaskListener() {

        @Override
        public void submitted(TaskCall call) {
            heard.add(call.spec().name());
        }

        @Override
        public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
            afterTheEnd.accept(call);
        }
    };

    private Consumer<TaskCall> afterTheEnd = call -> {};

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            listener,
            LimitSettings.of("db", 1),
            LimitSettings.of("other", 1),
            LimitSettings.of("impatient", 1).withMaxWait(Duration.ofMillis(20)),
            LimitSettings.of("keyed", 2).withPermitsPerKey(1));

    @RegisterExtension
    private final TestEngine secondContext = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch release = test.latch();

    private @Nullable Object call(String limit, TaskBody body) throws Throwable {
        return test.engine.call(test.engine.spec("Inner.b", limit), body);
    }

    private static void assertRan(CompletableFuture<?> call) {
        assertThat(call).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
    }

    @Test
    void aCallIsAPartOfTheOneThatHoldsThePermitHoweverManyLimitsLieBetween() throws Throwable {
        Object value = call(
                "db",
                () -> call(
                        "db",
                        () -> call(
                                "other",
                                () -> call(
                                        "db",
                                        () -> call("other", () -> {
                                            assertThat(test.limit("db").available())
                                                    .isZero();
                                            assertThat(test.limit("other").available())
                                                    .isZero();
                                            assertThat(test.engine.liveCalls().running())
                                                    .hasSize(2);
                                            return "ran";
                                        })))));

        assertThat(value).isEqualTo("ran");
        assertThat(heard).hasSize(2); // one for each limit
        assertThat(List.of(test.limit("db"), test.limit("other"))).allSatisfy(limit -> {
            assertThat(limit.available()).isOne();
            assertThat(limit.completed()).isOne();
        });
    }

    @Test
    void theBodyOfATaskHoldsItsPermit() {
        assertRan(test.submit("db", () -> call("db", () -> "ran")));
        TestEngine.awaitIdle(test);
        assertThat(test.limit("db").completed()).isOne();
        assertThat(heard).containsExactly("Test.task");
    }

    @Test
    void aFailureLeavesTheOuterPermitWhereItIs() throws Throwable {
        call("db", () -> {
            try {
                call("db", () -> {
                    throw new IllegalStateException("inner");
                });
            } catch (IllegalStateException expected) {
                assertThat(test.limit("db").available()).isZero();
            }
            return call("db", () -> "again");
        });

        assertThat(test.limit("db").available()).isOne();
    }

    @Test
    void aCancelledBodyCleansUpUnderItsPermit() {
        CompletableFuture<@Nullable Object> cleanedUp = new CompletableFuture<>();
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<?> cancelled = test.submit("db", () -> {
            running.countDown();
            try {
                release.await();
            } catch (InterruptedException expected) {
                cleanedUp.complete(callOrFailure("db"));
            }
            return null;
        });
        await(running);

        cancelled.cancel(true);

        assertRan(cleanedUp);
    }

    @Test
    void aBodyThatTookTooLongCleansUpUnderItsPermit() {
        CompletableFuture<@Nullable Object> cleanedUp = new CompletableFuture<>();
        CompletableFuture<?> late = test.engine.submit(test.engine.spec("Slow.a", "db", Duration.ofMillis(20)), () -> {
            try {
                release.await();
            } catch (InterruptedException expected) {
                cleanedUp.complete(callOrFailure("db"));
            }
            return null;
        });

        assertRan(cleanedUp);
        assertThat(late).failsWithin(2, TimeUnit.MINUTES);
    }

    private @Nullable Object callOrFailure(String limit) {
        try {
            return call(limit, () -> "ran");
        } catch (Throwable refused) {
            return refused;
        }
    }

    @Test
    void aContinuationOnTheThreadOfTheTaskHoldsNothing() {
        CountDownLatch go = new CountDownLatch(1);
        CompletableFuture<?> waited = test.submit("impatient", () -> {
                    await(go);
                    return null;
                })
                .thenApply(value -> {
                    test.hold("impatient", release);
                    return callOrFailure("impatient");
                });

        go.countDown();

        assertThat(waited).succeedsWithin(2, TimeUnit.MINUTES).isInstanceOf(LimitExceededException.class);
    }

    @Test
    void theHandlerOfAFailureHoldsNothing() {
        CompletableFuture<@Nullable Object> waited = new CompletableFuture<>();
        TaskBody fails = () -> {
            throw new IllegalStateException("body");
        };
        test.engine.execute(test.engine.spec("Mailer.send", "impatient"), fails, (task, failure) -> {
            test.hold("impatient", release);
            waited.complete(callOrFailure("impatient"));
        });

        assertThat(waited).succeedsWithin(2, TimeUnit.MINUTES).isInstanceOf(LimitExceededException.class);
    }

    @Test
    void aListenerOfTheEndHoldsNothing() throws Throwable {
        CompletableFuture<@Nullable Object> waited = new CompletableFuture<>();
        afterTheEnd = call -> {
            if (call.spec().name().equals("Outer.a")) {
                test.hold("impatient", release);
                waited.complete(callOrFailure("impatient"));
            }
        };

        test.engine.call(test.engine.spec("Outer.a", "impatient"), () -> null);

        assertThat(waited).succeedsWithin(2, TimeUnit.MINUTES).isInstanceOf(LimitExceededException.class);
    }

    @Test
    void aThreadThatTheBodyStartsHoldsNothing() {
        assertRejected(
                test.submit("impatient", () -> Caller.virtual(test, "impatient", () -> "ran").outcome),
                Reason.WAIT_TIMEOUT);
    }

    @Test
    void aWorkerThatRunsAnotherTaskInAJoinStillHolds() throws Exception {
        try (ForkJoinPool pool = new ForkJoinPool(1)) {
            CompletableFuture<@Nullable Object> outcome = new CompletableFuture<>();
            pool.execute(() -> {
                try {
                    outcome.complete(call("db", () -> ForkJoinTask.adapt(() -> callOrFailure("db"))
                            .fork()
                            .join()));
                } catch (Throwable failure) {
                    outcome.completeExceptionally(failure);
                }
            });

            assertRan(outcome);
        }
    }

    @Test
    void aBodyThatSetsTheHandlerOfItsThreadIsNotKnownAnyMore() {
        assertRejected(
                test.submit("impatient", () -> {
                    Thread.currentThread().setUncaughtExceptionHandler((thread, failure) -> {});
                    return call("impatient", () -> "ran");
                }),
                Reason.WAIT_TIMEOUT);
    }

    @Test
    void theLimitOfAnotherContextIsAnotherLimit() throws Throwable {
        Object free = call(
                "db",
                () -> secondContext.engine.call(
                        secondContext.engine.spec("Inner.b", "db"),
                        () -> test.limit("db").available()
                                + secondContext.limit("db").available()));

        assertThat(free).isEqualTo(0);
        assertThat(secondContext.limit("db").completed()).isOne();
    }

    @Test
    void theOuterKeyCounts() throws Throwable {
        TaskSpec spec = test.engine.spec("Shop.price", "keyed");

        Object ran = test.engine.call(test.engine.keyed(spec, "acme"), () -> {
            test.hold("keyed", release); // the other permit
            return test.engine.call(test.engine.keyed(spec, "umbrella"), () -> {
                assertThat(test.limit("keyed").key("acme").running()).isOne();
                assertThat(test.limit("keyed").key("umbrella").running()).isZero();
                return "ran";
            });
        });

        assertThat(ran).isEqualTo("ran");
        assertThat(test.limit("keyed").keys()).isZero();
    }

    @Test
    void whatRunsGoesOnAfterAStop() {
        CountDownLatch running = new CountDownLatch(1);
        Caller caller = Caller.virtual(test, "db", () -> {
            running.countDown();
            await(release);
            return call("db", () -> "ran");
        });
        await(running);

        test.engine.stop(TestEngine.NO_TIME);
        release.countDown();

        assertRan(caller.outcome);
    }
}
