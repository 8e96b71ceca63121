package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.Late.LONG;
import static io.github.virtualthread.execution.Late.SOON;
import static io.github.virtualthread.execution.Late.assertRefused;
import static io.github.virtualthread.execution.Late.valueOf;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The timer ends a task at one moment, and finds nothing to end at that: then the task sees itself that its time is over. */
@Timeout(300)
@Tag("jdk")
class DeadlineMomentsTests {

    private final AtomicBoolean waitsAtStart = new AtomicBoolean();
    private final AtomicBoolean started = new AtomicBoolean();
    private final AtomicBoolean ran = new AtomicBoolean();

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            new TaskListener() {
                @Override
                public void started(TaskCall call) {
                    if (call.spec().deadline() != null) {
                        started.set(true);
                        if (waitsAtStart.get()) {
                            awaitTimer(Objects.requireNonNull(call.spec().deadline()));
                        }
                    }
                }
            },
            LimitSettings.of("db", 1));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(Rejections.class);

    private String nextLine() throws InterruptedException {
        return Objects.requireNonNull(log.next(), "no line").getFormattedMessage();
    }

    @AfterEach
    void nothingIsLeft() {
        test.close();
        assertThat(ran).isFalse();
        assertThat(test.limit("db").available()).isEqualTo(1);
        assertThat(test.limit("db").waiting()).isZero();
        assertThat(test.engine.isIdle()).isTrue();
    }

    /** It has come for every task that was submitted before with that deadline. */
    private void awaitTimer(Duration deadline) {
        try {
            TimerEntries.await(test.timer, deadline);
        } catch (Exception unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private TaskSpec spec(@Nullable String limit, Duration deadline, ThreadFactory threads) {
        return new EngineSpec(
                "Test.late",
                limit == null ? null : test.limit(limit),
                null,
                deadline,
                new TaskThreads.Named(threads, "vt-Test.late-"),
                test.engine.parts());
    }

    private Object runs() {
        ran.set(true);
        return "ran";
    }

    @Test
    void theTimerComesBeforeTheTaskJoinsTheQueue() throws Exception {
        test.hold("db", test.latch());
        Task late = new Task(Late.spec(test, "db", SOON), this::runs, null) {
            @Override
            @Nullable
            Reason askForPermit(long timeLeft) {
                awaitTimer(SOON);
                return super.askForPermit(timeLeft);
            }
        };

        test.engine.submit(late);

        assertThat(late.future()).isDone();
        assertRefused(late.future());
        assertThat(test.limit("db").waiting()).isZero();
    }

    @Test
    void theTimerComesBeforeTheThreadOfATaskRuns() throws Exception {
        ThreadFactory slow = task -> Thread.ofVirtual().unstarted(() -> {
            awaitTimer(SOON);
            task.run();
        });

        assertRefused(test.engine.submit(spec("db", SOON, slow), this::runs));
        assertThat(started).isFalse();
        assertRefused(test.engine.submit(spec(null, SOON, slow), this::runs));
        assertThat(started).isFalse();
    }

    @Test
    void theTimerComesWhileListenersHearOfTheStart() throws Exception {
        waitsAtStart.set(true);

        Late.assertOverdue(
                deadline -> test.engine.submit(Late.spec(test, "db", deadline), this::runs),
                "Test.late ran past its deadline of %s under limit 'db' and was interrupted");

        assertThat(started).isTrue();
        String line = nextLine();
        while (line.startsWith("Limit 'db' has rejected")) { // a busy machine: see Late.overrun
            line = nextLine();
        }
        assertThat(line).startsWith("Test.late has timed out in a call: Test.late ran past its deadline of ");
    }

    /** What is scheduled after that is never cancelled, and holds the task until its time is over. */
    @Test
    void aTaskThatEndsBeforeItsSubmissionReturnsLeavesNothingInTheTimer() throws Exception {
        CountDownLatch ended = new CountDownLatch(1);
        Task fast = new Task(Late.spec(test, "db", LONG), () -> "value", null) {
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
        };

        test.engine.submit(fast);

        assertThat(valueOf(fast.future())).isEqualTo("value");
        Late.awaitNoneInTimer(test);
    }
}
