package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.Late.LONG;
import static io.github.virtualthread.execution.Late.SOON;
import static io.github.virtualthread.execution.Late.assertRefused;
import static io.github.virtualthread.execution.Late.failureOf;
import static io.github.virtualthread.execution.Late.overdue;
import static io.github.virtualthread.execution.Late.overrun;
import static io.github.virtualthread.execution.Late.valueOf;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.virtualthread.execution.Late.Overrun;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who hears of a deadline that passed, besides the future; and what a stop does to calls that have one. */
@Timeout(300)
@Tag("jdk")
class DeadlineReportTests {

    private final List<String> heard = new CopyOnWriteArrayList<>();
    private final List<Duration> waited = new CopyOnWriteArrayList<>();
    private final List<Duration> ran = new CopyOnWriteArrayList<>();

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            new TaskListener() {
                @Override
                public void submitted(TaskCall call) {
                    hear(call, "submitted");
                }

                @Override
                public void started(TaskCall call) {
                    hear(call, "started");
                }

                @Override
                public void rejected(TaskCall call, LimitExceededException rejection) {
                    hear(call, "rejected " + rejection.reason());
                    note(call);
                }

                @Override
                public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
                    hear(call, "finished " + outcome);
                    note(call);
                }
            },
            LimitSettings.of("db", 1));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(TimeBounds.class);

    @RegisterExtension
    private final QueueAppender stops = new QueueAppender(TaskEngine.class, Level.INFO);

    private final CountDownLatch release = test.latch();

    private void hear(TaskCall call, String what) {
        if (call.spec().name().equals("Test.late")) {
            heard.add(what);
        }
    }

    private void note(TaskCall call) {
        if (call.spec().name().equals("Test.late")) {
            waited.add(call.waited());
            ran.add(call.ran());
        }
    }

    private Object blocks() throws InterruptedException {
        release.await();
        return "ran";
    }

    @Test
    void listenersHearOfACallThatWaitedForTooLong() throws Exception {
        test.hold("db", release);

        long begin = System.nanoTime();
        CompletableFuture<?> late = test.engine.submit(Late.spec(test, "db", SOON), this::blocks);
        Duration submitting = Duration.ofNanos(System.nanoTime() - begin); // the deadline begins before the wait
        assertRefused(late);

        assertThat(heard).containsExactly("submitted", "rejected DEADLINE");
        assertThat(waited).singleElement().satisfies(time -> assertThat(time)
                .isGreaterThanOrEqualTo(SOON.minus(submitting)));
        assertThat(ran).containsExactly(Duration.ZERO);
        assertThat(test.engine.parts().rejections().total("db")).isOne();
    }

    @Test
    void listenersHearOfACallThatCameTooLate() throws Exception {
        overdue(() -> {
            assertRefused(test.engine.submit(Late.spec(test, "db", LONG), this::blocks));
            Late.assertThrowsRefusal(() -> Late.callOf(test, Late.spec(test, "db", LONG), this::blocks));
            Late.assertThrowsRefusal(() -> Late.callOf(test, Late.spec(test, null, LONG), this::blocks));
            return null;
        });

        assertThat(heard)
                .containsExactly(
                        "submitted",
                        "rejected DEADLINE",
                        "submitted",
                        "rejected DEADLINE",
                        "submitted",
                        "rejected DEADLINE");
    }

    @Test
    void listenersHearOfABodyThatRanForTooLong() throws Exception {
        Overrun late = overrun(deadline -> {
            heard.clear();
            waited.clear();
            ran.clear();
            return test.engine.submit(Late.spec(test, "db", deadline), this::blocks);
        });

        TestEngine.awaitIdle(test);
        assertThat(heard).containsExactly("submitted", "started", "finished TIMEOUT");
        assertThat(ran).singleElement().satisfies(time -> assertThat(time).isPositive());
        assertThat(waited.get(0).plus(ran.get(0)))
                .isGreaterThanOrEqualTo(late.deadline().minusMillis(5));
    }

    @Tag("slow")
    @Test
    void aBodyThatIgnoresItsInterruptIsReportedOnce() throws Exception {
        CountDownLatch stubborn = test.latch();
        Overrun late = overrun(deadline -> test.engine.submit(Late.spec(test, "db", deadline), () -> {
            TestEngine.awaitStubbornly(stubborn);
            return null;
        }));

        ILoggingEvent event = Objects.requireNonNull(log.next());

        assertThat(event.getLevel()).isEqualTo(Level.WARN);
        assertThat(event.getFormattedMessage())
                .isEqualTo(
                        "Test.late does not react to the interrupt after its deadline of %s; it still runs and holds"
                                + " its permit of limit 'db'",
                        Durations.text(late.deadline()));
        assertThat(event.getThrowableProxy().getMessage()).startsWith("Stack of vt-Test.late-");
        stubborn.countDown();
        Late.awaitNoneInTimer(test);
        assertThat(log.events).isEmpty();
        assertThat(test.limit("db").available()).isOne();
    }

    @Test
    void aStopEndsCallsWhoseTimeIsNotOver() throws Exception {
        CountDownLatch runs = new CountDownLatch(1);
        CompletableFuture<?> running = test.engine.submit(Late.spec(test, "db", LONG), () -> {
            runs.countDown();
            return blocks();
        });
        TestEngine.await(runs);
        CompletableFuture<?> waiting = test.engine.submit(Late.spec(test, "db", LONG), this::blocks);

        test.engine.stop(TestEngine.NO_TIME);

        assertThat(failureOf(running)).isInstanceOf(CancellationException.class);
        assertThat(failureOf(waiting)).hasMessageContaining("SHUTDOWN");
        Late.awaitNoneInTimer(test);
    }

    @Test
    void aCallThatRunsOutOfTimeInADrainIsNotDroppedByTheStop() throws Exception {
        CompletableFuture<?> held = test.hold("db", release);
        CountDownLatch draining = test.latch();
        CompletableFuture<?> caller = test.submit(null, () -> {
            TestEngine.await(draining);
            return test.engine.submit(Late.spec(test, "db", SOON), this::blocks);
        });
        Thread stop = test.stopping(TestEngine.ENOUGH);
        TestEngine.awaitDraining(test);
        draining.countDown();

        assertRefused(caller);

        release.countDown();
        assertThat(valueOf(held)).isEqualTo("held");
        stop.join();
        List<String> lines =
                stops.events.stream().map(ILoggingEvent::getFormattedMessage).toList();
        assertThat(lines).anyMatch(line -> line.contains("db: 1 finished, 0 interrupted, 0 dropped"));
    }
}
