package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.Late.LONG;
import static io.github.virtualthread.execution.Late.failureOf;
import static io.github.virtualthread.execution.Late.valueOf;
import static io.github.virtualthread.execution.TestEngine.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.limit.CallCancelledException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A scope ends at one moment, and may find nothing of a call to end at that: then the call sees itself that nobody waits. */
@Timeout(300)
@Tag("jdk")
class CallScopeMomentsTests {

    private final CallScope scope = new CallScope();
    private final AtomicBoolean ran = new AtomicBoolean();
    private final AtomicBoolean endsAtStart = new AtomicBoolean();

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            new TaskListener() {
                @Override
                public void started(TaskCall call) {
                    if (endsAtStart.get()) {
                        endNow();
                    }
                }
            },
            LimitSettings.of("db", 1),
            LimitSettings.of("ten", 10));

    private final VirtualThreads threads = new VirtualThreads(test.engine, (name, failure) -> {});

    @AfterEach
    void nothingIsLeft() {
        test.close();
        test.assertAllPermitsAreBack();
        assertThat(test.engine.isIdle()).isTrue();
        assertThat(scope.isEmpty()).isTrue();
    }

    /** Whatever the scope has found has been ended when this returns. */
    private void endNow() {
        scope.clientGone();
        CountDownLatch behind = test.latch();
        var unused = test.timer.schedule(behind::countDown, 0);
        TestEngine.await(behind);
    }

    private Object runs() {
        ran.set(true);
        return "ran";
    }

    @Test
    void beforeTheTaskJoinsTheQueue() throws Exception {
        test.hold("db", test.latch());
        Task late = Calls.callBy(
                scope.deadline(null), () -> new Task(test.engine.spec("Test.late", "db"), this::runs, null) {
                    @Override
                    @Nullable
                    Reason askForPermit(long timeLeft) {
                        endNow();
                        return super.askForPermit(timeLeft);
                    }
                });

        test.engine.submit(late);

        assertThat(late.future()).isDone();
        assertRejected(late.future(), Reason.CLIENT_GONE);
        assertThat(ran).isFalse();
    }

    @Test
    void beforeTheThreadOfATaskRuns() throws Exception {
        ThreadFactory slow = task -> Thread.ofVirtual().unstarted(() -> {
            endNow();
            task.run();
        });

        assertRejected(
                Calls.callBy(scope.deadline(null), () -> test.submit("db", slow, this::runs)), Reason.CLIENT_GONE);
        assertThat(ran).isFalse();
    }

    @Test
    void whileListenersHearOfTheStart() throws Exception {
        endsAtStart.set(true);

        assertThat(failureOf(Calls.callBy(scope.deadline(null), () -> test.submit("db", this::runs))))
                .isInstanceOf(CallCancelledException.class);
        assertThat(ran).isFalse();
    }

    /** What a scope would keep until its request ends. */
    @Test
    void aTaskThatEndsBeforeItsSubmissionReturnsIsForgotten() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        Task fast = Calls.callBy(
                scope.deadline(null), () -> new Task(test.engine.spec("Test.fast", "db"), () -> "value", null) {
                    @Override
                    @Nullable
                    Reason askForPermit(long timeLeft) {
                        Reason refused = super.askForPermit(timeLeft);
                        TestEngine.await(ended);
                        return refused;
                    }

                    @Override
                    void letGo() {
                        super.letGo();
                        ended.countDown();
                    }
                });

        test.engine.submit(fast);

        assertThat(valueOf(fast.future())).isEqualTo("value");
        assertThat(scope.isEmpty()).isTrue();
    }

    /** A second interrupt would disturb how a body cleans up. */
    @Test
    void aBodyIsInterruptedOnce() throws Exception {
        AtomicInteger interrupts = new AtomicInteger();
        CountDownLatch begun = test.latch();
        CountDownLatch cleaning = test.latch();
        CountDownLatch ended = test.latch();
        CompletableFuture<?> running = Calls.callBy(
                scope.deadline(LONG),
                () -> test.submit("db", () -> {
                    begun.countDown();
                    for (CountDownLatch latch : List.of(test.latch(), ended)) {
                        try {
                            latch.await();
                        } catch (InterruptedException stopped) {
                            interrupts.incrementAndGet();
                            cleaning.countDown();
                        }
                    }
                    return "ran";
                }));
        TestEngine.await(begun);
        Task task = test.engine.parts().live().running().get(0);

        scope.clientGone();
        TestEngine.await(cleaning);
        scope.clientGone();
        TimeBounds.endOverdue(task); // as the timer does it at the deadline
        ended.countDown();

        assertThat(failureOf(running)).isInstanceOf(CallCancelledException.class);
        assertThat(interrupts).hasValue(1);
    }

    /** Whatever a call does when its client goes, it ends, and nobody else does. */
    @Test
    void noMomentIsMissed() throws Exception {
        for (int round = 0; round < 2_000; round++) {
            CallScope one = new CallScope();
            CountDownLatch never = new CountDownLatch(1);
            CompletableFuture<?> other = test.submit("ten", () -> "ran");
            CompletableFuture<CompletableFuture<?>> task = new CompletableFuture<>();
            CompletableFuture<?> thread = Late.on(
                    Thread.ofVirtual(),
                    () -> Calls.callBy(one.deadline(null), () -> {
                        task.complete(test.submit("ten", () -> {
                            never.await();
                            return "ran";
                        }));
                        return threads.call("db", () -> threads.submit("ten", () -> {
                                    never.await();
                                    return "ran";
                                })
                                .join());
                    }));
            for (int spin = round % 200; spin > 0; spin--) {
                Thread.onSpinWait();
            }

            one.clientGone();

            TestEngine.assertFails(task.get(2, TimeUnit.MINUTES));
            TestEngine.assertFails(thread);
            assertThat(valueOf(other)).isEqualTo("ran");
            TestEngine.awaitIdle(test);
            await().atMost(TestEngine.ENOUGH).until(one::isEmpty); // the last thing of a task
        }
    }
}
