package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** Calls made from a body that holds a permit of the same limit. */
@Timeout(300)
@Tag("jdk")
class NestedCallTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 1),
            LimitSettings.of("two", 2),
            LimitSettings.of("impatient", 1).withMaxWait(Duration.ofMillis(1)),
            LimitSettings.of("strict", 1).withNested(Nested.FAIL),
            LimitSettings.of("strict-two", 2).withNested(Nested.FAIL));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(PermitHolders.class);

    private final VirtualThreads threads = new VirtualThreads(test.engine, (task, failure) -> {});
    private final CountDownLatch release = test.latch();

    private ExecutorView executor(String name, String limit) {
        return ExecutorView.of(threads, name, limit);
    }

    /** Makes the calls inside a body that holds a permit of the limit. */
    private void inside(String limit, Runnable calls) {
        submit("Outer.a", limit, () -> {
                    calls.run();
                    return null;
                })
                .join();
    }

    private CompletableFuture<@Nullable Object> submit(String name, String limit, TaskBody body) {
        return test.engine.submit(test.engine.spec(name, limit), body);
    }

    private Object call(String name, String limit, TaskBody body) throws Throwable {
        return test.engine.call(test.engine.spec(name, limit), body);
    }

    private static void assertNested(CompletableFuture<?> future) {
        assertThat(future).failsWithin(2, TimeUnit.MINUTES);
        assertThat(future.exceptionNow()).isInstanceOfSatisfying(LimitExceededException.class, refusal -> {
            assertThat(refusal.reason()).isEqualTo(Reason.NESTED);
            assertThat(refusal.limit()).startsWith("strict");
            assertThat(refusal.task()).isEqualTo("Inner.b");
        });
    }

    private static void assertRan(CompletableFuture<?> future) {
        assertThat(future).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
    }

    @Test
    void aTaskThatAsksForWhatItsCallerHoldsIsReportedOnceForEachPairOfMethods() {
        for (int i = 0; i < 3; i++) {
            submit("Outer.a", "db", () -> {
                        CompletableFuture<?> unused = submit("Inner.b", "db", () -> "not awaited");
                        return null;
                    })
                    .join();
        }
        submit("Outer.c", "db", () -> {
                    CompletableFuture<?> unused = submit("Inner.b", "db", () -> "not awaited");
                    return null;
                })
                .join();

        assertThat(log.events)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "Outer.a calls Inner.b while it holds a permit of limit 'db', and no other permit is free."
                                + " Once the only permit is held this way, none of these calls can proceed. Give Inner.b a"
                                + " limit of its own, let one call do both, make Inner.b @Limited, or set"
                                + " virtual-thread.limits.db.nested to fail.",
                        "Outer.c calls Inner.b while it holds a permit of limit 'db', and no other permit is free."
                                + " Once the only permit is held this way, none of these calls can proceed. Give Inner.b a"
                                + " limit of its own, let one call do both, make Inner.b @Limited, or set"
                                + " virtual-thread.limits.db.nested to fail.");
    }

    @Test
    void aCallOnItsCallersThreadRunsAtOnceAndIsNotReported() throws Throwable {
        assertThat(call("Outer.a", "impatient", () -> call("Inner.b", "impatient", () -> "ran")))
                .isEqualTo("ran");
        assertThat(log.events).isEmpty();
    }

    @Test
    void aLogThatFailsLosesNoCall() {
        AppenderBase<ILoggingEvent> broken = new AppenderBase<>() {

            @Override
            public void doAppend(ILoggingEvent event) {
                throw new IllegalStateException("broken appender");
            }

            @Override
            protected void append(ILoggingEvent event) {}
        };
        Logger logger = (Logger) LoggerFactory.getLogger(PermitHolders.class);
        logger.addAppender(broken);
        try {
            AtomicReference<CompletableFuture<?>> inner = new AtomicReference<>();
            submit("Outer.a", "db", () -> {
                        inner.set(submit("Inner.b", "db", () -> "ran"));
                        return null;
                    })
                    .join();

            assertThat(inner.get()).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
        } finally {
            logger.detachAppender(broken);
        }
    }

    @Test
    void nothingIsReportedWhileAPermitIsFree() throws Throwable {
        Object inner = submit("Outer.a", "two", () -> submit("Inner.b", "two", () -> "value")
                        .join())
                .join();
        Object called = call("Outer.a", "strict-two", () -> call("Inner.b", "strict-two", () -> "called"));

        assertThat(inner).isEqualTo("value");
        assertThat(called).isEqualTo("called");
        assertThat(log.events).isEmpty();
        assertThat(test.limit("strict-two").available()).isEqualTo(2);
    }

    @Test
    void whereNestedCallsFailTheFutureSaysSoAtOnce() {
        CompletableFuture<?> inner = submit("Outer.a", "strict", () -> {
                    CompletableFuture<?> nested = submit("Inner.b", "strict", () -> "ran");
                    assertThat(nested).isCompletedExceptionally();
                    return CompletableFuture.completedFuture(nested);
                })
                .thenApply(value -> (CompletableFuture<?>) value)
                .join();

        assertNested(inner);
        assertThat(inner.exceptionNow())
                .hasMessageContaining(
                        "give this call a limit of its own, let one call do both, or run it on its caller's"
                                + " thread, such as by @Limited");
        assertThat(log.events).isEmpty();
        assertThat(test.limit("strict").available()).isEqualTo(1);
    }

    @Test
    void whereNestedCallsFailACallOnItsCallersThreadRuns() {
        assertRan(submit("Outer.a", "strict", () -> call("Inner.b", "strict", () -> "ran")));
        assertRan(Caller.virtual(test, "strict", () -> call("Inner.b", "strict", () -> "ran")).outcome);
        TestEngine.awaitIdle(test);
        assertThat(test.limit("strict").available()).isEqualTo(1);
    }

    @Test
    void aTaskMadeByACallerThatHoldsThePermitIsNestedToo() {
        Caller outer = Caller.platform(test, "strict", () -> submit("Inner.b", "strict", () -> "ran"));

        assertNested((CompletableFuture<?>) outer.outcome.join());
    }

    @Test
    void aCallThroughAnotherLimitRunsUnderTheOuterPermitThatIsStillHeld() {
        assertRan(Caller.virtual(
                        test, "strict", () -> call("Middle.m", "two", () -> call("Inner.b", "strict", () -> "ran")))
                .outcome);
    }

    @Test
    void afterAnInnerCallHasEndedTheOuterPermitStillCounts() {
        assertRan(Caller.virtual(test, "strict-two", () -> {
                    call("Middle.m", "strict-two", () -> "fits");
                    test.hold("strict-two", release);
                    assertNested(submit("Inner.b", "strict-two", () -> "never"));
                    return call("Inner.b", "strict-two", () -> "ran");
                })
                .outcome);
    }

    @Test
    void aCallerThatHoldsNothingAnyMoreIsNotNested() throws Throwable {
        call("Outer.a", "strict", () -> "done");
        test.hold("strict", release);

        CompletableFuture<?> next = submit("Inner.b", "strict", () -> "ran");

        assertThat(next).isNotDone();
        release.countDown();
        assertThat(next).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void callsOfOtherThreadsAreNotNested() {
        CompletableFuture<CompletableFuture<?>> ofAnotherThread = new CompletableFuture<>();
        CompletableFuture<?> outer = submit("Outer.a", "strict", () -> {
            Thread.ofVirtual().start(() -> ofAnotherThread.complete(submit("Inner.b", "strict", () -> "ran")));
            // parked, not by looking again and again: JDK 21 may give a lonely carrier to nobody else then
            ofAnotherThread.join();
            return null;
        });

        assertThat(outer).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(ofAnotherThread.join()).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
        assertThat(log.events).isEmpty();
    }

    @Test
    void callsOfAnotherLimitAreNotNested() {
        test.hold("strict", release);
        CompletableFuture<?> outer = submit("Outer.a", "db", () -> {
            CompletableFuture<?> waiting = submit("Inner.b", "strict", () -> "ran");
            Caller.awaitWaiting(test, "strict", 1);
            release.countDown();
            return waiting;
        });

        assertThat(outer).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
        assertThat(log.events).isEmpty();
    }

    /** Makes a call by hand and by an executor; returns when all of them have run. */
    private void callWithoutWaiting(String limit) {
        CountDownLatch ran = new CountDownLatch(4);
        TaskBody body = () -> {
            ran.countDown();
            return null;
        };
        FailureHandler failed = (task, failure) -> {};
        inside(limit, () -> {
            test.engine.execute(test.engine.spec("Inner.b", limit), body, failed);
            threads.execute(limit, ran::countDown);
            threads.executor(limit).execute(ran::countDown);
            executor("mailExecutor", limit).named("Inner.c").execute(body, failed);
        });
        TestEngine.await(ran);
    }

    @Test
    void callsThatNobodyWaitsForAreNeitherReportedNorRejected() {
        callWithoutWaiting("db");
        callWithoutWaiting("strict");

        assertThat(log.events).isEmpty();
    }

    @Test
    void aTaskOfAnExecutorThatSomebodyMayWaitForIsReportedInWordsForExecutors() {
        inside("db", () -> executor("futureExecutor", "db").execute(new FutureTask<>(() -> "ran")));
        inside("db", () -> CompletableFuture.runAsync(() -> {}, executor("mailExecutor", "db")));
        executor("mailExecutor", "db")
                .submitCompletable(() -> executor("mailExecutor", "db").submit(() -> "ran"))
                .join();
        executor("mailExecutor", "db")
                .submitCompletable(() -> submit("Inner.b", "db", () -> "ran"))
                .join();
        inside("db", () -> executor("mailExecutor", "db").named("Inner.c").submit(() -> "ran"));

        String held =
                " while it holds a permit of limit 'db', and no other permit is free. Once the only permit is held this"
                        + " way, none of these calls can proceed. ";
        String submit = "Submit it to an executor under another limit, run it on the caller's thread, or set"
                + " virtual-thread.limits.db.nested to fail.";
        String call = "Give %1$s a limit of its own, let one call do both, make %1$s @Limited, or set"
                + " virtual-thread.limits.db.nested to fail.";
        assertThat(log.events)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "Outer.a submits a task to futureExecutor" + held + submit,
                        "Outer.a submits a task to mailExecutor" + held + submit,
                        "A task of mailExecutor submits a task to mailExecutor" + held + submit,
                        "A task of mailExecutor calls Inner.b" + held + call.formatted("Inner.b"),
                        "Outer.a calls Inner.c" + held + call.formatted("Inner.c"));
    }

    @Test
    void whereNestedCallsFailATaskOfAnExecutorThatSomebodyMayWaitForIsRejected() {
        ExecutorView strict = executor("mailExecutor", "strict");

        inside("strict", () -> {
            assertNested(() -> strict.execute(new FutureTask<>(() -> "never")));
            assertNested(() -> CompletableFuture.supplyAsync(() -> "never", strict));
            assertNested(() -> strict.submit(() -> {}));
            assertNested(() -> strict.submitCompletable(() -> "never"));
        });
    }

    private static void assertNested(ThrowingCallable call) {
        TestEngine.assertThrowsRejection(Reason.NESTED, call);
    }

    @Test
    void aPairIsReportedForEachLimit() {
        inside("db", () -> submit("Inner.b", "db", () -> "ran"));
        inside("impatient", () -> submit("Inner.b", "impatient", () -> "ran"));

        assertThat(log.events)
                .extracting(ILoggingEvent::getFormattedMessage)
                .satisfiesExactly(
                        first -> assertThat(first).contains("virtual-thread.limits.db."),
                        second -> assertThat(second).contains("virtual-thread.limits.impatient."));
    }
}
