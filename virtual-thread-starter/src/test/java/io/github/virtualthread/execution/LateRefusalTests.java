package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertRejected;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;

/** A task that has been accepted, and never gets to run its body. */
@Timeout(300)
@Tag("jdk")
class LateRefusalTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    @Test
    void aTaskWhoseThreadBeginsAfterTheStopGivesItsPermitBack() {
        ThreadFactory late = body -> Thread.ofVirtual().unstarted(() -> {
            awaitStop();
            body.run();
        });
        CompletableFuture<?> future = test.submit("db", late, () -> "ran");

        test.engine.stop(Duration.ZERO);

        assertRejected(future, Reason.SHUTDOWN);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aRefusalNeedsNoThreadOfItsMethod() {
        test.hold("db", test.latch());
        CompletableFuture<?> future = test.submit(
                "db",
                body -> {
                    throw new OutOfMemoryError("unable to create native thread");
                },
                () -> "ran");

        test.limits.evictWaiting("db");

        assertThat(future).failsWithin(Duration.ofMinutes(2));
        assertThat(future.exceptionNow()).isInstanceOf(LimitExceededException.class);
    }

    private List<Task> waiting(int number) {
        List<Task> tasks = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            Task task = test.engine.task(test.engine.spec("Test.task", "db"), () -> "ran", null);
            test.engine.submit(task);
            assertThat(task.leaveQueue()).isTrue();
            tasks.add(task);
        }
        return tasks;
    }

    private void awaitThatNothingIsLeft() throws Exception {
        assertThat(test.engine.awaitIdle(TestEngine.ENOUGH)).isTrue();
        Awaitility.await()
                .atMost(TestEngine.ENOUGH)
                .until(() -> test.engine.parts().live().running().isEmpty());
        assertThat(test.engine.isIdle()).as("no end is counted twice").isTrue();
    }

    @Test
    void aRefusalThatIsToldOnceMoreLeavesNothingBehind() throws Exception {
        CountDownLatch until = test.latch();
        test.hold("db", until);
        Task task = waiting(1).get(0);

        task.reportRejected(Reason.EVICTED);
        assertThat(task.future()).failsWithin(Duration.ofMinutes(2));
        task.reportRejected(Reason.EVICTED);

        until.countDown();
        awaitThatNothingIsLeft();
    }

    /** Who evicts tells also those that other threads are telling. */
    @Test
    void aRefusalThatIsToldByTwoThreadsAtOnceIsCountedOnce() throws Exception {
        CountDownLatch until = test.latch();
        test.hold("db", until);
        List<Task> tasks = waiting(5_000);
        Runnable telling = () -> tasks.forEach(task -> task.reportRejected(Reason.EVICTED));

        Thread other = Thread.ofPlatform().start(telling);
        telling.run();
        other.join();

        for (Task task : tasks) {
            assertThat(task.future()).failsWithin(Duration.ofMinutes(2));
        }
        assertThat(test.engine.parts().rejections().total("db")).isLessThanOrEqualTo(5_000);
        until.countDown();
        awaitThatNothingIsLeft();
        assertThat(test.engine.parts().rejections().total("db")).isEqualTo(5_000);
    }

    /** Two threads report the same call, and a listener holds up the first of them. */
    @Test
    void aListenerThatHoldsUpARefusalKeepsItFromNobody() throws Exception {
        CountDownLatch listening = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        TaskListener slow = new TaskListener() {
            @Override
            public void rejected(TaskCall call, LimitExceededException rejection) {
                listening.countDown();
                TestEngine.await(goesOn);
            }
        };
        BlockingQueue<Throwable> heard = new LinkedBlockingQueue<>();
        try (TestEngine slowly = new TestEngine(slow, LimitSettings.of("db", 1))) {
            CountDownLatch until = slowly.latch();
            slowly.hold("db", until);
            Task task = slowly.engine.task(
                    slowly.engine.spec("Test.task", "db"), () -> "ran", (name, failure) -> heard.add(failure));
            slowly.engine.submit(task);
            assertThat(task.rejectWaiting(Reason.SHUTDOWN)).isTrue();
            assertThat(listening.await(2, TimeUnit.MINUTES)).isTrue();

            task.reportRejected(Reason.SHUTDOWN);

            assertThat(task.future()).isDone();
            assertThat(heard).hasSize(1);
            goesOn.countDown();
            until.countDown();
            assertThat(slowly.engine.awaitIdle(TestEngine.ENOUGH)).isTrue();
            assertThat(heard).hasSize(1);
        }
    }

    /** A platform thread reports one rejection after the other while no carrier is free. */
    @Test
    void aReportOnAPlatformThreadSeesNoContextOfAnotherCall() throws Exception {
        CountDownLatch until = test.latch();
        test.hold("db", until);
        List<String> seen = new ArrayList<>();
        List<Task> tasks = new ArrayList<>();
        for (String user : new String[] {"alice", null, "bob", null}) {
            MDC.clear();
            if (user != null) {
                MDC.put("user", user);
            }
            Task task = test.engine.task(test.engine.spec("Test.task", "db"), () -> "ran", (name, failure) -> {
                seen.add(user + " sees " + MDC.get("user"));
                MDC.put("user", "left by " + user);
            });
            test.engine.submit(task);
            assertThat(task.leaveQueue()).isTrue();
            tasks.add(task);
        }
        MDC.put("user", "reporter");

        tasks.forEach(task -> task.reportRejected(Reason.EVICTED));

        assertThat(seen).containsExactly("alice sees alice", "null sees null", "bob sees bob", "null sees null");
        assertThat(MDC.get("user")).isEqualTo("reporter");
        MDC.clear();
        until.countDown();
        awaitThatNothingIsLeft();
    }

    private void awaitStop() {
        long begin = System.nanoTime();
        while (!test.engine.parts().gate().isStopped()) {
            if (System.nanoTime() - begin > TestEngine.ENOUGH.toNanos()) {
                throw new AssertionError("nobody stops the engine");
            }
            Thread.yield();
        }
    }
}
