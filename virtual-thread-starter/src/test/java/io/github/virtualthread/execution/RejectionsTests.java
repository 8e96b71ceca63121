package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.CallTimeoutException.Kind;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.timer.TaskTimer;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** What the log says of rejected calls, and of those that have timed out. */
@Timeout(300)
@Tag("jdk")
class RejectionsTests {

    private static final Duration NEVER = Duration.ofHours(1);
    private static final Duration SOON = Duration.ofMillis(1);

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 1).withQueueCapacity(0),
            LimitSettings.of("mail", 1).withQueueCapacity(0),
            LimitSettings.of("key", 1).withQueueCapacityPerKey(1),
            LimitSettings.of("slow", 1).withMaxWait(SOON));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(Rejections.class);

    @RegisterExtension
    private final QueueAppender debug = new QueueAppender(Rejections.class, Level.DEBUG);

    private final CountDownLatch gate = test.latch();

    @Test
    void theFirstIsLoggedAtOnceAndSaysWhatToDo() {
        test.hold("db", gate);

        test.submit("db", () -> null);

        assertThat(log.events).singleElement().satisfies(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.WARN);
            assertThat(event.getThrowableProxy()).isNull();
            assertThat(event.getFormattedMessage())
                    .isEqualTo(
                            "Limit 'db' has rejected a call: Test.task was rejected (QUEUE_FULL): limit db (1 permit,"
                                    + " queue of 0, unbounded wait) has 0 permits free and 0 calls waiting; raise its"
                                    + " permits if the resource can take more, raise its queue-capacity"
                                    + " for bursts, or send fewer calls");
        });
    }

    @Test
    void thousandsWriteOneLineForEachLimitWhateverTheKindOfCall() {
        test.hold("db", gate);
        test.hold("mail", gate);
        VirtualThreads byHand = new VirtualThreads(test.engine, (task, failure) -> {});

        for (int i = 0; i < 1_000; i++) {
            test.submit("db", () -> null);
            test.submit("mail", () -> null);
            test.engine.execute(test.engine.spec("Mailer.send", "db"), () -> null, (task, failure) -> {});
            assertThatExceptionOfType(LimitExceededException.class).isThrownBy(() -> byHand.call("db", () -> null));
            assertThatExceptionOfType(LimitExceededException.class)
                    .isThrownBy(() -> byHand.executor("db").execute(() -> {}));
        }

        TestEngine.awaitRejected(test, "db", 4_000);
        assertThat(messages())
                .satisfiesExactlyInAnyOrder(
                        db -> assertThat(db).startsWith("Limit 'db' has rejected a call"),
                        mail -> assertThat(mail).startsWith("Limit 'mail' has rejected a call"));
    }

    /** Nobody waited for them. */
    @Test
    void callsWhoseClientHasGoneAreForDebugging() throws Exception {
        Logger logger = (Logger) LoggerFactory.getLogger(Rejections.class);
        logger.setLevel(Level.DEBUG);
        try {
            CallScope scope = new CallScope();
            scope.clientGone();
            for (int i = 0; i < 2; i++) {
                TestEngine.assertRejected(
                        Calls.callBy(scope.deadline(null), () -> test.submit("db", () -> null)), Reason.CLIENT_GONE);
            }
            test.hold("db", gate);
            TestEngine.assertRejected(test.submit("db", () -> null), Reason.QUEUE_FULL);
        } finally {
            logger.setLevel(null);
        }

        assertThat(debug.events)
                .extracting(ILoggingEvent::getLevel, ILoggingEvent::getFormattedMessage)
                .satisfiesExactly(
                        gone -> assertThat(gone.toList())
                                .containsExactly(
                                        Level.DEBUG,
                                        "Limit 'db' has rejected a call: Test.task was rejected (CLIENT_GONE): the client of"
                                                + " its web request has gone"),
                        full -> assertThat(full.toList().get(0)).isEqualTo(Level.WARN));
        assertThat(log.events).hasSize(1);
        assertThat(test.engine.parts().rejections().total("db")).isEqualTo(3);
    }

    @Test
    void aLongWaitIsARejectionToo() throws Exception {
        test.hold("slow", gate);

        test.submit("slow", () -> null);

        assertThat(log.next())
                .asString()
                .contains("Limit 'slow' has rejected a call: Test.task was rejected (WAIT_TIMEOUT)");
    }

    @Test
    void aFullQueueOfAKeyIsARejectionToo() {
        test.hold("key", gate);
        TaskSpec spec = test.engine.spec("Test.task", "key");
        assertThat(test.engine.submit(test.engine.keyed(spec, "acme"), () -> null))
                .isNotDone();

        assertThat(test.engine.submit(test.engine.keyed(spec, "acme"), () -> null))
                .isCompletedExceptionally();

        assertThat(messages())
                .singleElement()
                .asString()
                .contains("Limit 'key' has rejected a call: Test.task was rejected (KEY_QUEUE_FULL): limit key (");
    }

    @Test
    void theRestIsToldWithItsNumberAlsoWhenNoOtherComes() throws Exception {
        try (TaskTimer timer = new TaskTimer("timer")) {
            Rejections rejections = new Rejections(timer, SOON);
            for (int i = 0; i < 999; i++) {
                rejections.add(rejection(Reason.QUEUE_FULL));
            }
            rejections.add(rejection(Reason.WAIT_TIMEOUT));

            List<String> lines = new ArrayList<>();
            int told = 0;
            while (told < 1_000) {
                ILoggingEvent line = log.events.poll(2, TimeUnit.MINUTES);
                assertThat(line).as("after %s", lines).isNotNull();
                lines.add(line.getFormattedMessage());
                told += number(line.getFormattedMessage());
            }
            assertThat(told).as("%s", lines).isEqualTo(1_000);
        }
    }

    @Test
    void aLineWithSeveralSaysForWhichReasons() {
        try (TaskTimer timer = new TaskTimer("timer")) {
            Rejections rejections = new Rejections(timer, NEVER);
            rejections.add(rejection(Reason.QUEUE_FULL));
            for (int i = 0; i < 1_200; i++) {
                rejections.add(rejection(Reason.QUEUE_FULL));
            }
            rejections.add(rejection(Reason.WAIT_TIMEOUT));

            rejections.conclude();

            assertThat(messages())
                    .hasSize(2)
                    .last()
                    .asString()
                    .matches("Limit 'db' has rejected 1,201 calls within \\d+ s \\(1,200 QUEUE_FULL, 1 WAIT_TIMEOUT\\);"
                            + " the last one: Shop\\.price was rejected \\(WAIT_TIMEOUT\\): limit db .*");
        }
    }

    /** The timer is closed before the last call is made, or gets no thread. */
    @Test
    void theNextRejectionTellsWhatNoTimerTold() {
        TaskTimer timer = new TaskTimer("timer");
        timer.close();
        Rejections rejections = new Rejections(timer, SOON);

        int added = 0;
        for (int told = 0; told < 3; told = log.events.size()) {
            rejections.add(rejection(Reason.QUEUE_FULL));
            added++;
        }

        assertThat(messages().stream().mapToInt(RejectionsTests::number).sum()).isEqualTo(added);
    }

    @Test
    void whatAStopDropsIsInItsOwnLine() {
        test.hold("slow", gate);
        test.limit("slow").setMaxWait(null);
        test.submit("slow", () -> null);

        test.engine.stop(Duration.ZERO);

        assertThat(messages()).isEmpty();
    }

    @Test
    void aCallAfterTheStopIsToldAndOneBeforeTheNextStopIsNot() {
        test.engine.stop(Duration.ZERO);

        test.submit("db", () -> null);
        test.submit("db", () -> null);
        test.submit(null, () -> null);

        assertThat(messages())
                .containsExactly(
                        "Limit 'db' has rejected a call: Test.task was rejected (SHUTDOWN): the application is stopping"
                                + " and accepts no more calls",
                        "Limit 'none' has rejected a call: Test.task was rejected (SHUTDOWN): the application is"
                                + " stopping and accepts no more calls");
    }

    /** The line of the stop is being written, so its numbers are known. */
    @Test
    void aCallThatComesTooLateForTheLineOfAStopIsToldHere() {
        Logger stops = (Logger) LoggerFactory.getLogger(TaskEngine.class);
        AppenderBase<ILoggingEvent> slow = new AppenderBase<>() {
            @Override
            protected void append(ILoggingEvent event) {
                if (event.getFormattedMessage().startsWith("Virtual threads stopped")) {
                    for (int i = 0; i < 50; i++) {
                        test.submit("db", () -> null);
                    }
                }
            }
        };
        slow.start();
        stops.addAppender(slow);
        try {
            test.hold("slow", gate);

            test.engine.stop(Duration.ZERO);

            assertThat(messages().stream().mapToInt(RejectionsTests::number).sum())
                    .isEqualTo(50);
        } finally {
            stops.detachAppender(slow);
        }
    }

    @Test
    void aCallBetweenAStopAndAStartIsTold() {
        test.engine.stop(Duration.ZERO);
        CountDownLatch rejected = new CountDownLatch(1);
        test.engine.execute(test.engine.spec("Mailer.send", "db"), () -> null, (task, failure) -> rejected.countDown());
        test.engine.start();
        TestEngine.await(rejected);

        assertThat(messages()).hasSize(1);
    }

    @Test
    void theCloseTellsWhatWasNotTold() {
        test.engine.stop(Duration.ZERO);
        for (int i = 0; i < 50; i++) {
            test.submit("db", () -> null);
        }

        test.engine.close();

        assertThat(messages().stream().mapToInt(RejectionsTests::number).sum()).isEqualTo(50);
    }

    /** Its deadline passes later, and is not one more. */
    @Tag("slow")
    @Test
    void aCallThatTimesOutIsLoggedOnceAndBeforeItsCallerKnows() throws Exception {
        Duration deadline = Duration.ofSeconds(2);
        TaskSpec spec = test.engine.spec("Shop.price", "db", SOON, deadline);
        AtomicBoolean before = new AtomicBoolean();
        CompletableFuture<?> call = test.engine.submit(spec, this::isStubborn);
        CompletableFuture<?> seen = call.whenComplete((value, failure) -> before.set(!log.events.isEmpty()));

        assertThat(seen).failsWithin(2, TimeUnit.MINUTES);
        TimerEntries.await(test.timer, deadline);
        test.engine.parts().rejections().conclude(); // writes what is not written yet

        assertThat(before).isTrue();
        assertThat(log.events).singleElement().satisfies(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.WARN);
            assertThat(event.getThrowableProxy()).isNull();
            assertThat(event.getFormattedMessage())
                    .isEqualTo("Shop.price has timed out in a call: Shop.price ran longer than its timeout of 0.001s"
                            + " under limit 'db' and was interrupted");
        });
    }

    @Test
    void eachMethodHasLinesOfItsOwnWithTheNumberOfItsTimeouts() {
        try (TaskTimer timer = new TaskTimer("timer")) {
            Rejections rejections = new Rejections(timer, NEVER);
            rejections.add(timeout("Shop.price", Kind.TIMEOUT));
            rejections.add(timeout("Mailer.send", Kind.DEADLINE));
            for (int i = 0; i < 1_200; i++) {
                rejections.add(timeout("Shop.price", Kind.TIMEOUT));
            }
            rejections.add(timeout("Shop.price", Kind.DEADLINE));

            rejections.conclude();

            assertThat(messages())
                    .satisfiesExactly(
                            first -> assertThat(first).startsWith("Shop.price has timed out in a call: Shop.price ran"),
                            other -> assertThat(other)
                                    .startsWith("Mailer.send has timed out in a call: Mailer.send ran past its"),
                            rest -> assertThat(rest)
                                    .matches(
                                            "Shop\\.price has timed out in 1,201 calls within \\d+ s \\(1,200 TIMEOUT,"
                                                    + " 1 DEADLINE\\); the last one: Shop\\.price ran past its deadline of .*"));
            assertThat(rejections.total("db")).as("rejections").isZero();
        }
    }

    @Test
    void aBrokenLogHarmsNobody() {
        test.hold("db", gate);

        try (BrokenLog broken = new BrokenLog(Rejections.class)) {
            TestEngine.assertFails(test.submit("db", () -> null));
            TestEngine.assertFails(
                    test.engine.submit(test.engine.spec("Shop.price", null, SOON, null), this::isStubborn));
        }
    }

    private Object isStubborn() {
        TestEngine.awaitStubbornly(gate);
        return "too late";
    }

    private static CallTimeoutException timeout(String method, Kind kind) {
        return new CallTimeoutException(method, "db", kind, SOON, false);
    }

    private LimitExceededException rejection(Reason reason) {
        return new LimitExceededException("Shop.price", test.limit("db"), reason);
    }

    private static int number(String line) {
        Matcher number = Pattern.compile("has rejected (a|[\\d,]+) call").matcher(line);
        assertThat(number.find()).as(line).isTrue();
        String text = number.group(1).replace(",", "");
        return text.equals("a") ? 1 : Integer.parseInt(text);
    }

    private List<String> messages() {
        return log.events.stream().map(ILoggingEvent::getFormattedMessage).toList();
    }
}
