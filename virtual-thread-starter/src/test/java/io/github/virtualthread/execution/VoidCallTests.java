package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;

/** Calls whose only channel of failure is a handler. */
@Timeout(300)
@Tag("jdk")
class VoidCallTests {

    private record Told(
            Throwable failure, Thread thread, @Nullable String user) {}

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 1).withQueueCapacity(0),
            LimitSettings.of("queued", 1).withMaxWait(Duration.ofMillis(20)));

    private final CountDownLatch release = test.latch();
    private final BlockingQueue<Told> told = new LinkedBlockingQueue<>();

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(Failures.class);

    private void execute(@Nullable String limit, TaskBody body) {
        MDC.put("user", "alice"); // on the thread of the test, which is not that of other callbacks
        test.engine.execute(
                test.engine.spec("Mailer.send", limit),
                body,
                (task, failure) -> told.add(new Told(failure, Thread.currentThread(), MDC.get("user"))));
    }

    private Told toldOnce() throws InterruptedException {
        Told first = told.poll(2, TimeUnit.MINUTES);
        assertThat(first).isNotNull();
        test.engine.stop(TestEngine.ENOUGH);
        assertThat(told).isEmpty();
        test.assertMayBlock(first.thread());
        assertThat(first.user()).isEqualTo("alice");
        return first;
    }

    @Test
    void theHandlerHearsOnceWhatTheBodyThrew() throws Exception {
        IOException thrown = new IOException("body");

        execute("db", () -> {
            throw thrown;
        });

        assertThat(toldOnce().failure()).isSameAs(thrown);
    }

    @Test
    void theHandlerHearsNothingOfASuccess() {
        CountDownLatch ran = new CountDownLatch(1);

        execute("db", () -> {
            ran.countDown();
            return null;
        });
        await(ran);
        test.engine.stop(TestEngine.ENOUGH);

        assertThat(told).isEmpty();
    }

    @Test
    void aFullQueueIsToldOnAThreadOfItsOwnAndNotOnTheCallers() throws Exception {
        test.hold("db", release);

        execute("db", () -> null);
        MDC.put("user", "bob");
        release.countDown();

        assertThat(toldOnce().failure())
                .isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.reason())
                        .isEqualTo(Reason.QUEUE_FULL));
    }

    @Test
    void aLongWaitIsTold() throws Exception {
        test.hold("queued", release);

        execute("queued", () -> null);
        Told rejected = told.poll(2, TimeUnit.MINUTES);
        told.add(rejected);
        release.countDown();

        assertThat(toldOnce().failure())
                .isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.reason())
                        .isEqualTo(Reason.WAIT_TIMEOUT));
    }

    @Test
    void aHandlerThatThrowsAConstantDoesNotKeepEveryFailureInIt() throws Exception {
        IllegalStateException constant = new IllegalStateException("always the same");
        TaskSpec spec = test.engine.spec("Mailer.send", null);
        TaskBody broken = () -> {
            throw new IOException("another each time");
        };

        for (int call = 0; call < 500; call++) {
            test.engine.execute(spec, broken, (task, failure) -> {
                throw constant;
            });
        }
        assertThat(test.engine.awaitIdle(Duration.ofMinutes(2))).isTrue();

        // two threads may find the last place free at once
        assertThat(constant.getSuppressed()).hasSizeBetween(1, 2 * Failures.MOST_SUPPRESSED);
    }

    @Test
    void aCallAfterTheEndIsTold() throws Exception {
        test.engine.stop(TestEngine.NO_TIME);

        execute(null, () -> null);

        assertThat(toldOnce().failure())
                .isInstanceOf(LimitExceededException.class)
                .hasMessage(
                        "Mailer.send was rejected (SHUTDOWN): the application is stopping and accepts no more calls");
    }

    @Test
    void aHandlerThatThrowsIsLoggedAndHarmsNothing() {
        IllegalStateException broken = new IllegalStateException("handler");
        AssertionError failure = new AssertionError("body");

        test.engine.execute(test.engine.spec("Mailer.send", "db"), fail(failure), (task, told) -> {
            throw broken;
        });

        assertLoggedAndFree(broken);
        assertThat(broken).hasSuppressedException(failure);
    }

    @Test
    void aHandlerMayThrowWhatItWasTold() {
        IllegalStateException failure = new IllegalStateException("body");

        test.engine.execute(test.engine.spec("Mailer.send", "db"), fail(failure), (task, told) -> {
            throw (IllegalStateException) told;
        });

        assertLoggedAndFree(failure);
    }

    private static TaskBody fail(Throwable failure) {
        return () -> {
            throw failure;
        };
    }

    private void assertLoggedAndFree(Throwable expected) {
        test.engine.stop(TestEngine.ENOUGH);
        assertThat(test.limit("db").available()).isEqualTo(1);
        assertThat(log.events).singleElement().satisfies(event -> {
            assertThat(event.getLevel()).isEqualTo(Level.ERROR);
            assertThat(event.getFormattedMessage()).isEqualTo("The handler of a failure of Mailer.send failed itself");
            assertThat(event.getThrowableProxy().getMessage()).isEqualTo(expected.getMessage());
        });
    }
}
