package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.awaitParked;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the log says of stuck calls. */
@Timeout(300)
@Tag("jdk")
class StuckCallWatchTests extends WatchedCalls {

    @Test
    void aStuckCallIsToldOnceWithItsStackAndListenersHearOfIt() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));
        test.hold("db", gate);
        awaitParked(test.thread("db"));

        watch.look();
        watch.look();

        assertThat(log.events).singleElement().satisfies(event -> {
            assertThat(event.getFormattedMessage())
                    .matches("Test.task has been running for \\d+s under limit 'db', longer than"
                            + " virtual-thread.stuck-after");
            assertThat(event.getThrowableProxy().getMessage()).startsWith("Stack of vt-Test.task-");
            assertThat(event.getThrowableProxy().getStackTraceElementProxyArray())
                    .anyMatch(frame -> frame.toString().contains("CountDownLatch.await"));
        });
        assertThat(stuck).singleElement().extracting(call -> call.spec().name()).isEqualTo("Test.task");
    }

    /** 3,000 hung calls wrote 54,000 lines, one stack 3,000 times. */
    @Test
    void thousandsThatAreStuckAtOnePlaceAreOneLineWithOneStackAndTheirNumber() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));
        for (int i = 0; i < 3_000; i++) {
            test.submit(null, () -> {
                gate.await();
                return null;
            });
        }
        awaitAllParked(3_000);

        watch.look();
        watch.look();

        assertThat(log.events).singleElement().satisfies(event -> {
            assertThat(event.getFormattedMessage())
                    .matches(
                            "3,000 calls of Test.task have been running for up to \\d+s under limit 'none', longer than"
                                    + " virtual-thread.stuck-after, all at the same place");
            assertThat(event.getThrowableProxy().getStackTraceElementProxyArray())
                    .anyMatch(frame -> frame.toString().contains("CountDownLatch.await"));
        });
        assertThat(stuck).hasSize(3_000);
    }

    @Test
    void callsThatAreStuckElsewhereAreAnotherLine() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));
        test.submit("db", () -> {
            gate.await();
            return null;
        });
        test.submit("db", () -> {
            TestEngine.awaitStubbornly(gate);
            return null;
        });
        awaitAllParked(2);

        watch.look();

        assertThat(messages()).hasSize(2).allSatisfy(message -> assertThat(message)
                .startsWith("WARN Test.task has been running for "));
    }

    @Test
    void callsThatGetStuckAtAPlaceThatWasLoggedAreLoggedAMinuteLaterWithTheirNumber() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));
        TaskBody hang = () -> {
            gate.await();
            return null;
        };
        test.submit(null, hang);
        awaitAllParked(1);
        watch.look();
        log.events.clear();
        test.submit(null, hang);
        test.submit(null, hang);
        awaitAllParked(3);

        for (int second = 1; second < 60; second++) {
            watch.look();
        }
        assertThat(stuck).as("listeners hear at once").hasSize(3);
        assertThat(messages()).isEmpty();
        watch.look();

        assertThat(messages())
                .singleElement()
                .asString()
                .startsWith("WARN 2 calls of Test.task have been running for up to ");
    }

    @Test
    void oneLookShowsTenStacksAndCountsTheRest() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));
        for (int depth = 0; depth < 12; depth++) {
            int deep = depth;
            test.submit(null, () -> hang(deep));
        }
        awaitAllParked(12);

        watch.look();
        watch.look();

        assertThat(messages())
                .hasSize(11)
                .last()
                .asString()
                .matches("WARN 2 more calls have been running for up to \\d+s, longer than virtual-thread.stuck-after,"
                        + " at more than 10 places");
    }

    private @Nullable Object hang(int depth) throws InterruptedException {
        if (depth > 0) {
            return hang(depth - 1);
        }
        gate.await();
        return null;
    }

    private void awaitAllParked(int number) {
        long begin = System.nanoTime();
        while (test.engine
                        .liveCalls()
                        .threads()
                        .filter(live -> live.call().isStarted())
                        .map(LiveCall::thread)
                        .filter(thread -> thread != null && thread.getState() == Thread.State.WAITING)
                        .count()
                < number) {
            assertThat(System.nanoTime() - begin)
                    .isLessThan(Duration.ofMinutes(1).toNanos());
            Thread.yield();
        }
    }

    @Test
    void aCallOnItsCallersThreadCanBeStuckToo() throws Throwable {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));

        test.engine.call(test.engine.spec("Test.call", "db"), () -> {
            watch.look();
            return null;
        });
        watch.look();

        assertThat(messages()).singleElement().asString().startsWith("WARN Test.call has been running for ");
    }

    @Test
    void aCallThatEndedInTimeIsNotStuck() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofHours(1));
        test.hold("db", gate);

        watch.look();

        assertThat(messages()).isEmpty();
        assertThat(stuck).isEmpty();
    }
}
