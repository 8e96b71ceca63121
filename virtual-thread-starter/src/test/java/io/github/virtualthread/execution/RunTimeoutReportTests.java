package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertFails;
import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;

/** Who hears of a run that took too long, besides the future. */
@Timeout(300)
@Tag("jdk")
class RunTimeoutReportTests {

    private static final Duration SHORT = Duration.ofMillis(30);

    /** Enough for a busy machine to let a body react to its interrupt. */
    private static final Duration GRACE = Duration.ofMillis(300);

    private record Told(
            Throwable failure, Thread thread, @Nullable String user) {}

    @RegisterExtension
    private final TestEngine test =
            new TestEngine(GRACE, TestEngine.ENOUGH, LimitSettings.of("db", 1), LimitSettings.of("many", 8));

    private final CountDownLatch release = test.latch();
    private final BlockingQueue<Told> told = new LinkedBlockingQueue<>();

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(TimeBounds.class);

    private CompletableFuture<?> submit(TaskBody body) {
        return test.engine.submit(test.engine.spec("Shop.price", "db", SHORT), body);
    }

    private void execute(String limit, TaskBody body) {
        test.engine.execute(
                test.engine.spec("Mailer.send", limit, SHORT),
                body,
                (task, failure) -> told.add(new Told(failure, Thread.currentThread(), MDC.get("user"))));
    }

    @Tag("slow")
    @Test
    void aBodyThatIgnoresItsInterruptIsReportedOnceWithItsStack() throws Exception {
        CompletableFuture<?> future = submit(() -> {
            TestEngine.awaitStubbornly(release);
            return null;
        });

        ILoggingEvent event = log.next();

        assertThat(event).isNotNull();
        assertThat(event.getLevel()).isEqualTo(Level.WARN);
        assertThat(event.getFormattedMessage())
                .isEqualTo("Shop.price does not react to the interrupt after its timeout of 0.03s; it still runs and"
                        + " holds its permit of limit 'db'");
        assertThat(Arrays.toString(event.getThrowableProxy().getStackTraceElementProxyArray()))
                .contains("awaitStubbornly")
                .doesNotContain("warnIfRunning");
        assertFails(future);
        assertThat(test.limit("db").available()).isZero();
        TimerEntries.await(test.timer, GRACE.multipliedBy(2));
        while (TimerEntries.count(test.timer) > 0) { // a look is on a thread of its own, for which the timer waits
            TimerEntries.await(test.timer, SHORT);
        }
        assertThat(log.events).isEmpty();
    }

    @Test
    void aBodyThatObeysItsInterruptIsNotReported() throws Exception {
        submit(() -> {
                    release.await();
                    return null;
                })
                .handle((value, failure) -> null)
                .join();

        TimerEntries.await(test.timer, GRACE.multipliedBy(2));

        assertThat(log.events).isEmpty();
    }

    @Test
    void theNextBodyIsNotReportedInPlaceOfTheOneThatTimedOut() throws Exception {
        submit(() -> {
                    release.await();
                    return null;
                })
                .handle((value, failure) -> null)
                .join();
        test.hold("db", release);

        TimerEntries.await(test.timer, GRACE.multipliedBy(2));

        assertThat(log.events).isEmpty();
    }

    @Test
    void theHandlerOfAVoidCallHearsOfItOnceWithTheContextOfTheCaller() throws Exception {
        MDC.put("user", "alice");
        CountDownLatch ending = new CountDownLatch(1);
        execute("db", () -> {
            try {
                TestEngine.awaitStubbornly(release);
            } finally {
                ending.countDown();
            }
            throw new IllegalStateException("after the end");
        });
        MDC.put("user", "bob");

        Told first = told.poll(2, TimeUnit.MINUTES);

        assertThat(first).isNotNull();
        assertThat(first.failure())
                .isInstanceOf(TimeoutException.class)
                .hasMessage("Mailer.send ran longer than its timeout of 0.03s under limit 'db' and was interrupted");
        test.assertMayBlock(first.thread());
        assertThat(first.user()).isEqualTo("alice");
        release.countDown();
        await(ending);
        TestEngine.awaitIdle(test);
        assertThat(told).isEmpty();
    }

    @Test
    @Tag("slow")
    void whoeverIsFirstToSeeTheEndTheHandlerHearsOnceWithTheContextOfTheCaller() throws Exception {
        MDC.put("user", "alice");
        int number = 400;
        for (int i = 0; i < number; i++) {
            execute("many", () -> {
                release.await();
                return null;
            });
        }

        for (int i = 0; i < number; i++) {
            Told next = told.poll(2, TimeUnit.MINUTES);
            assertThat(next).isNotNull();
            assertThat(next.failure()).isInstanceOf(TimeoutException.class);
            assertThat(next.user()).isEqualTo("alice");
        }
        TestEngine.awaitIdle(test);
        assertThat(told).isEmpty();
        assertThat(test.limit("many").available()).isEqualTo(8);
    }
}
