package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.ENOUGH;
import static io.github.virtualthread.execution.TestEngine.NO_TIME;
import static io.github.virtualthread.execution.TestEngine.assertFails;
import static io.github.virtualthread.execution.TestEngine.assertThrowsRejection;
import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.util.function.SingletonSupplier;

@Timeout(300)
@Tag("jdk")
class ExecutorViewTests {

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(ExecutorView.class);

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 3),
            LimitSettings.of("full", 1).withQueueCapacity(0),
            LimitSettings.of("patient", 1));

    private final CompletableFuture<Throwable> uncaught = new CompletableFuture<>();
    private final VirtualThreads threads =
            new VirtualThreads(test.engine, (task, failure) -> uncaught.complete(failure));
    private final CountDownLatch release = test.latch();

    @Test
    void anExecutorTellsItsLimit() {
        assertThat(threads.executor("db")).asString().contains("under limit 'db'");
    }

    @Test
    void tasksRunOnVirtualThreadsWithTheMdcOfTheirCaller() throws Exception {
        MDC.put("requestId", "r-1");
        Future<String> requestId = threads.executor().submit(() -> MDC.get("requestId"));
        Future<Thread> thread = threads.executor().submit(Thread::currentThread);

        assertThat(requestId.get(2, TimeUnit.MINUTES)).isEqualTo("r-1");
        assertThat(thread.get(2, TimeUnit.MINUTES).isVirtual()).isTrue();
        assertThat(thread.get().getName()).startsWith("vt-VirtualThreads.executor-");
    }

    @Test
    void cancelInterruptsWhatWasSubmitted() {
        AsyncTaskExecutor executor = threads.executor("db");

        assertThat(interruptedBy(body -> executor.submitCompletable(body))).isTrue();
        assertThat(interruptedBy(body -> executor.submitCompletable(asCallable(body))))
                .isTrue();
        assertThat(interruptedBy(body -> executor.submit(body))).isTrue();
        assertThat(interruptedBy(body -> executor.submit(asCallable(body)))).isTrue();
    }

    private static Callable<String> asCallable(Runnable body) {
        return () -> {
            body.run();
            return "ran";
        };
    }

    private boolean interruptedBy(Function<Runnable, Future<?>> submit) {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Future<?> future = submit.apply(() -> {
            running.countDown();
            try {
                release.await();
                interrupted.complete(false);
            } catch (InterruptedException expected) {
                interrupted.complete(true);
            }
        });
        await(running);
        future.cancel(true);
        return interrupted.join();
    }

    @Test
    void aFullQueueThrowsAtTheCaller() {
        test.hold("full", release);
        AsyncTaskExecutor full = threads.executor("full");

        assertThrowsRejection(Reason.QUEUE_FULL, () -> full.execute(() -> {}));
        assertThrowsRejection(Reason.QUEUE_FULL, () -> full.submit(() -> {}));
        assertThrowsRejection(Reason.QUEUE_FULL, () -> full.submit(() -> "ran"));
        assertThrowsRejection(Reason.QUEUE_FULL, () -> full.submitCompletable(() -> {}));
        assertThrowsRejection(Reason.QUEUE_FULL, () -> full.submitCompletable(() -> "ran"));
        assertThat(uncaught).isNotDone();
    }

    @Test
    void anApplicationThatStopsThrowsAtTheCaller() {
        test.engine.stop(NO_TIME);

        assertThrowsRejection(Reason.SHUTDOWN, () -> threads.executor().execute(() -> {}));
        assertThrowsRejection(Reason.SHUTDOWN, () -> threads.executor("db").submitCompletable(() -> "ran"));
    }

    @Test
    void aLaterRefusalIsInTheFuture() {
        test.hold("patient", release);

        CompletableFuture<String> future = threads.executor("patient").submitCompletable(() -> "ran");
        refuseTheWaiting();

        assertFails(future);
        assertThat(future.exceptionNow()).isInstanceOf(LimitExceededException.class);
    }

    @Test
    void aLaterRefusalOfWhatNobodyWaitsForIsReported() {
        test.hold("patient", release);
        FutureTask<String> ofSomebodyElse = new FutureTask<>(() -> "ran");

        threads.executor("patient").execute(ofSomebodyElse);
        refuseTheWaiting();

        assertThat(uncaught).succeedsWithin(2, TimeUnit.MINUTES).isInstanceOf(LimitExceededException.class);
        assertThat(ofSomebodyElse.isCancelled()).isTrue();
    }

    @Test
    void aFutureThatCannotBeFailedIsLogged() throws Exception {
        test.hold("patient", release);

        CompletableFuture<?> unused = CompletableFuture.runAsync(() -> {}, threads.executor("patient"));
        refuseTheWaiting();

        assertThat(uncaught).succeedsWithin(2, TimeUnit.MINUTES).isInstanceOf(LimitExceededException.class);
        assertThat(log.next())
                .isNotNull()
                .satisfies(
                        event -> assertThat(event.getFormattedMessage())
                                .isEqualTo(
                                        "VirtualThreads.executor accepted a task of a CompletableFuture, rejected it later, and cannot fail that"
                                                + " future: a caller that waits for it waits forever. Bound the queue of limit 'patient' by"
                                                + " queue-capacity instead of max-wait: a full queue is reported to the caller at once."));
    }

    /** Not by a short wait from the start: it might be over before the call returns, which then throws. */
    private void refuseTheWaiting() {
        test.limit("patient").setMaxWait(Duration.ofMillis(1));
    }

    @Test
    void whatARunnableThrowsIsReported() {
        IllegalStateException failure = new IllegalStateException("broken");

        threads.executor("db").execute(() -> {
            throw failure;
        });

        assertThat(uncaught).succeedsWithin(2, TimeUnit.MINUTES).isSameAs(failure);
    }

    @Test
    void aCancellationExceptionOfARunnableIsReportedAsItIs() {
        CancellationException failure = new CancellationException("somebody else's");

        threads.executor("db").execute(() -> {
            throw failure;
        });

        assertThat(uncaught).succeedsWithin(2, TimeUnit.MINUTES).isSameAs(failure);
    }

    @Test
    void noTaskIsRefusedAtOnce() {
        AsyncTaskExecutor db = threads.executor("db");

        assertNull(() -> db.execute(null));
        assertNull(() -> db.submit((Runnable) null));
        assertNull(() -> db.submit((Callable<String>) null));
        assertNull(() -> db.submitCompletable((Runnable) null));
        assertNull(() -> db.submitCompletable((Callable<String>) null));
        assertThat(uncaught).isNotDone();
    }

    @Test
    void noNameOfALimitIsNotNoLimit() {
        assertNull(() -> threads.executor(null));
        assertNull(() -> threads.submit(null, () -> "ran"));
        assertNull(() -> threads.execute(null, () -> {}));
        assertNull(() -> threads.call(null, () -> "ran"));
        assertNull(() -> threads.all(null, List.of(() -> "ran")));
        assertNull(() -> threads.anySuccessful(null, List.of(() -> "ran")));
    }

    @Test
    void noTaskByHandIsRefusedAtOnce() {
        assertNull(() -> threads.submit(null));
        assertNull(() -> threads.submit("db", null));
        assertNull(() -> threads.execute(null));
        assertNull(() -> threads.execute("db", null));
        assertNull(() -> threads.call("db", null));
    }

    private static void assertNull(ThrowingCallable call) {
        assertThatThrownBy(call).isInstanceOf(NullPointerException.class).hasMessageMatching("task|limit");
    }

    @Test
    void whatFailsBeforeItsCallerGoesOnIsReportedOnAVirtualThreadAllTheSame() throws Exception {
        TaskSpec endsAtOnce = test.spec("db", body -> new Thread(body) {
            @Override
            public void start() {
                super.start();
                try {
                    join();
                } catch (InterruptedException unexpected) {
                    throw new AssertionError(unexpected);
                }
            }
        });
        CompletableFuture<Thread> told = new CompletableFuture<>();
        CompletableFuture<ClassLoader> loader = new CompletableFuture<>();
        CompletableFuture<String> user = new CompletableFuture<>();
        MDC.put("user", "alice");

        FailureHandler handler = (task, failure) -> {
            user.complete(MDC.get("user"));
            loader.complete(Thread.currentThread().getContextClassLoader());
            told.complete(Thread.currentThread());
        };
        new ExecutorView(test.engine, "Test.task", "db", null, handler, SingletonSupplier.of(endsAtOnce))
                .execute(() -> {
                    throw new IllegalStateException("broken");
                });

        assertThat(told.get(2, TimeUnit.MINUTES).isVirtual()).isTrue();
        assertThat(user).isCompletedWithValue("alice");
        assertThat(loader).isCompletedWithValue(TestEngine.APPLICATION);
    }

    @Test
    void aHandlerIsToldThoughWhatWasHandedInCannotBeCancelled() {
        test.hold("patient", release);

        threads.executor("patient").execute(new FutureTask<>(() -> "ran") {
            @Override
            protected void done() {
                throw new IllegalStateException("listener of the future");
            }
        });
        refuseTheWaiting();

        assertThat(uncaught).succeedsWithin(2, TimeUnit.MINUTES).isInstanceOf(LimitExceededException.class);
    }

    @Test
    void aHandlerThatFailsHarmsNobody() throws Exception {
        VirtualThreads broken = new VirtualThreads(test.engine, (task, failure) -> {
            uncaught.complete(failure);
            throw new IllegalStateException("handler");
        });

        broken.executor("full").execute(() -> {
            throw new IllegalStateException("body");
        });

        assertThat(uncaught).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(threads.awaitIdle(ENOUGH)).isTrue();
        assertThat(test.limit("full").available()).isEqualTo(1);
    }
}
