package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertFails;
import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitIdle;
import static io.github.virtualthread.execution.TestEngine.awaitStubbornly;
import static io.github.virtualthread.execution.TestShield.body;
import static io.github.virtualthread.execution.TestShield.unshield;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What log, listeners and operators are told of bodies that are shielded. */
@Timeout(300)
@Tag("jdk")
class ShieldReportTests {

    private static final Duration SHORT = Duration.ofMillis(30);

    /** Enough for a busy machine to let a body react to its interrupt. */
    private static final Duration GRACE = Duration.ofMillis(300);

    private static final String STILL_RUNS =
            " after its timeout of 0.03s; it still runs and holds its permit of limit 'db'";

    @RegisterExtension
    private final TestEngine test = new TestEngine(GRACE, TestEngine.ENOUGH, LimitSettings.of("db", 1));

    @RegisterExtension
    private final TestEngine hasty = new TestEngine(SHORT, TestEngine.ENOUGH, LimitSettings.of("db", 1));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(TimeBounds.class);

    private final TestShield shield = new TestShield();
    private final CountDownLatch running = new CountDownLatch(1);
    private final CountDownLatch unshield = test.latch();
    private final CountDownLatch release = test.latch();

    private static CompletableFuture<?> submit(TestEngine test, TaskBody body) {
        return test.engine.submit(test.engine.spec("Shop.price", "db", SHORT), body);
    }

    /** Stopped before or after, the body gets its interrupt at the end of this. */
    private void shielded() {
        body().shield(shield);
        boolean interrupted = Thread.interrupted();
        running.countDown();
        awaitStubbornly(unshield);
        if (unshield(body()) || interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private CompletableFuture<?> submitStubborn(TestEngine test) {
        CompletableFuture<?> future = submit(test, () -> {
            shielded();
            awaitStubbornly(release);
            return null;
        });
        await(running);
        assertFails(future);
        return future;
    }

    /** Waits until it has been looked after the body, and there is another look to come. */
    private static void awaitLook(TestEngine test, Optional<? extends Future<?>> last) {
        Optional<? extends Future<?>> next = last;
        long begin = System.nanoTime();
        while (next.isEmpty() || next.equals(last)) {
            assertThat(System.nanoTime() - begin).isLessThan(TestEngine.ENOUGH.toNanos());
            Thread.yield();
            next = TimerEntries.first(test.timer, InterruptibleCall.class);
        }
    }

    private static Optional<? extends Future<?>> look(TestEngine test) {
        return TimerEntries.first(test.timer, InterruptibleCall.class);
    }

    /** The look of a body that is stopped is scheduled a moment later than its future fails. */
    private static Optional<? extends Future<?>> firstLook(TestEngine test) {
        awaitLook(test, Optional.empty());
        return look(test);
    }

    private void assertNothingIsLeft(TestEngine test) throws Exception {
        release.countDown();
        awaitIdle(test);
        while (TimerEntries.count(test.timer) > 0) {
            TimerEntries.await(test.timer, SHORT);
        }
        assertThat(log.events).isEmpty();
    }

    @Test
    void aBodyThatStaysInTheDriverIsReportedOnce() throws Exception {
        submitStubborn(hasty);

        ILoggingEvent event = log.next();

        assertThat(event).isNotNull();
        assertThat(event.getFormattedMessage())
                .isEqualTo("Shop.price has not returned from its database driver" + STILL_RUNS
                        + ". Look at its session in the database");
        assertThat(Arrays.toString(event.getThrowableProxy().getStackTraceElementProxyArray()))
                .contains("shielded");
        assertThat(hasty.limit("db").available()).isZero();
        TimerEntries.await(hasty.timer, SHORT.multipliedBy(2));
        unshield.countDown();
        assertNothingIsLeft(hasty);
    }

    /** It has been looked at while its shield worked; from the end of that on it has all of the due time. */
    @Tag("slow")
    @Test
    void aBodyThatIgnoresTheInterruptAfterItsShieldIsReportedOnceWhenItIsDue() throws Exception {
        submitStubborn(test);
        awaitLook(test, firstLook(test));
        assertThat(log.events).isEmpty();

        long ended = System.nanoTime();
        unshield.countDown();
        ILoggingEvent event = log.next();

        assertThat(System.nanoTime() - ended).isGreaterThan(GRACE.toNanos());
        assertThat(event).isNotNull();
        assertThat(event.getFormattedMessage()).isEqualTo("Shop.price does not react to the interrupt" + STILL_RUNS);
        TimerEntries.await(test.timer, GRACE.multipliedBy(2));
        assertNothingIsLeft(test);
    }

    private String whyStopped(Cause cause) {
        TaskSpec spec = test.engine.spec("Shop.price", "db", Duration.ofMillis(200), Duration.ofSeconds(2));
        Task task = new Task(spec, () -> null, null);
        task.decide(cause);
        return task.whyStopped();
    }

    @Test
    void aStatementIsRefusedForTheReasonThatTheCallerSees() throws Exception {
        assertThat(whyStopped(Cause.CANCELLED)).isEqualTo("Shop.price was cancelled under limit 'db'");
        assertThat(whyStopped(Cause.STOPPED))
                .isEqualTo("Shop.price was interrupted: the application stopped before it ended");
        assertThat(whyStopped(Cause.TIMED_OUT))
                .isEqualTo("Shop.price ran longer than its timeout of 0.2s under limit 'db' and was interrupted");
        assertThat(whyStopped(Cause.OVERDUE))
                .isEqualTo("Shop.price ran past its deadline of 2s under limit 'db' and was interrupted");
        assertThat(test.submit("db", () -> body().whyStopped()).get()).isEqualTo("Test.task was stopped");
    }

    /** What it has heard of statements. */
    private static final class Heard extends CopyOnWriteArrayList<String> implements TaskListener {

        @Override
        public void statementEnded(TaskCall call, StatementOutcome outcome) {
            add(call.spec().name() + " " + outcome);
        }
    }

    @Test
    void eachListenerHearsOfAStatementThoughAnotherFails() throws Exception {
        TaskListener broken = new TaskListener() {
            @Override
            public void statementEnded(TaskCall call, StatementOutcome outcome) {
                throw new AssertionError("broken listener");
            }
        };
        Heard heard = new Heard();
        try (TestEngine listening = TestEngine.listening(List.of(broken, heard))) {
            CompletableFuture<?> future = listening.submit(null, () -> {
                body().statementEnded(StatementOutcome.CANCELLED);
                body().statementEnded(StatementOutcome.REFUSED);
                return "value";
            });

            assertThat(future.get()).isEqualTo("value");
        }

        assertThat(heard).containsExactly("Test.task CANCELLED", "Test.task REFUSED");
    }

    /** Its beginning came before there were listeners, so they would hear of a call that they do not know. */
    @Test
    void noListenerHearsOfTheStatementsOfACallThatIsNotObserved() throws Exception {
        Heard heard = new Heard();
        AtomicReference<@Nullable List<TaskListener>> listeners = new AtomicReference<>();
        try (TaskEngine engine = new TaskEngine(
                test.limits,
                ContextPropagation.none(),
                test.timer,
                new TaskThreads("vt-", TestEngine.APPLICATION),
                new CallExtensions(() -> Objects.requireNonNull(listeners.get(), "not yet"), List::of),
                false)) {
            TaskSpec spec = engine.spec("Test.task", null);
            CompletableFuture<?> before = engine.submit(spec, () -> {
                awaitStubbornly(release);
                body().statementEnded(StatementOutcome.CANCELLED);
                return null;
            });
            listeners.set(List.of(heard));
            CompletableFuture<?> after = engine.submit(spec, () -> {
                body().statementEnded(StatementOutcome.COMPLETED);
                return null;
            });
            after.get();
            release.countDown();
            before.get();
        }

        assertThat(heard).containsExactly("Test.task COMPLETED");
    }

    @Test
    void anOperatorSeesTheStatementThatABodyIsIn() throws Exception {
        LiveCalls calls = test.engine.liveCalls();
        CompletableFuture<StoppableBody> self = new CompletableFuture<>();
        CountDownLatch unshielded = new CountDownLatch(1);
        CompletableFuture<?> future = test.submit("db", () -> {
            self.complete(body());
            shielded();
            unshielded.countDown();
            awaitStubbornly(release);
            return null;
        });
        await(running);
        StoppableBody body = self.join();

        assertThat(calls.statement(body)).as("unknown").isEmpty();
        shield.sql = "select 1";
        assertThat(calls.statement(body)).contains("select 1");
        unshield.countDown();
        await(unshielded);
        assertThat(calls.statement(body)).isEmpty();
        release.countDown();
        future.get();
        assertThat(calls.statement(body)).isEmpty();
    }

    /** A connection goes from hand to hand, and one call must not show the SQL of another. */
    @Test
    void anOperatorDoesNotSeeTheStatementOfTheNextCallOnAConnection() throws Exception {
        CountDownLatch unshielded = new CountDownLatch(1);
        TestShield connection = new TestShield() {
            @Override
            public String statement() {
                unshield.countDown();
                await(unshielded);
                return "of another call";
            }
        };
        CompletableFuture<StoppableBody> self = new CompletableFuture<>();
        test.submit("db", () -> {
            body().shield(connection);
            self.complete(body());
            awaitStubbornly(unshield);
            boolean unused = unshield(body());
            unshielded.countDown();
            return null;
        });

        assertThat(test.engine.liveCalls().statement(self.join())).isEmpty();
    }
}
