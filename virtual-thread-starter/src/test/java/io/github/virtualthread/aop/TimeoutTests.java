package io.github.virtualthread.aop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.CallTimeoutException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class TimeoutTests {

    private static final Duration LONG = Duration.ofMinutes(1);

    @Test
    void aBodyThatRunsLongerThanItsTimeoutIsInterrupted() throws Exception {
        try (TestContext context = context(Map.of(), null)) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(failure(mailer.send()))
                    .isExactlyInstanceOf(CallTimeoutException.class)
                    .hasMessageStartingWith("Mailer.send ran longer than its timeout of 0.01s");
            assertThat(mailer.interrupted().await(120, SECONDS)).isTrue();
        }
    }

    @Test
    void aPlaceholderGivesTheTimeout() {
        try (TestContext context = context(Map.of("mailer.timeout", " PT0.01S "), LONG)) {
            assertThat(failure(context.getBean(Mailer.class).configured()))
                    .isExactlyInstanceOf(CallTimeoutException.class);
        }
    }

    @Test
    void aMethodThatSetsNoTimeoutHasThatOfTheSettings() {
        try (TestContext context = context(Map.of("mailer.timeout", ""), Duration.ofMillis(10))) {
            Mailer mailer = context.getBean(Mailer.class);

            assertThat(failure(mailer.unbounded())).hasMessageContaining("Mailer.unbounded ran longer");
            assertThat(failure(mailer.configured())).hasMessageContaining("Mailer.configured ran longer");
        }
    }

    @Test
    void aTimeoutOfTheMethodReplacesThatOfTheSettings() throws Exception {
        try (TestContext context = context(Map.of(), Duration.ofNanos(1))) {
            CountDownLatch release = new CountDownLatch(1);
            Future<String> held = context.getBean(Mailer.class).patient(release);
            release.countDown();

            assertThat(held.get(120, SECONDS)).isEqualTo("held");
        }
    }

    @ParameterizedTest
    @CsvSource({"2s,PT2S", "500ms,PT0.5S", "PT1M30S,PT1M30S", "1m30s,PT1M30S"})
    void durationsAreWrittenSimplyOrInIsoForm(String text, Duration expected) {
        assertThat(CallSettings.duration(text)).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0s", "-1s", "PT0S", "-500ms"})
    void aTimeoutIsLongerThanZero(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CallSettings.duration(text))
                .withMessage("must be longer than zero, was '%s'", text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "2 seconds", "2sec", "99999999999999999999s", "9223372036854775807d"})
    void textThatIsNoDurationIsRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CallSettings.duration(text))
                .withMessage("must be a duration such as 2s, was '%s'", text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"2", "250", "-1", "+5", "0"})
    void aNumberAloneIsRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CallSettings.duration(text))
                .withMessage("must be a duration with its unit, was '%s'", text);
    }

    private static TestContext context(Map<String, Object> properties, Duration timeout) {
        return TestContext.withSettings(
                properties, new MethodSettings(null, timeout, Map.of()), it -> it.register(Mailer.class));
    }

    private static Throwable failure(Future<?> future) {
        Throwable thrown = catchThrowable(() -> future.get(120, SECONDS));
        assertThat(thrown).isInstanceOf(ExecutionException.class);
        return thrown.getCause();
    }

    static class Mailer {

        private final CountDownLatch interrupted = new CountDownLatch(1);

        CountDownLatch interrupted() {
            return interrupted;
        }

        @VirtualThread(timeout = "10ms")
        public CompletableFuture<String> send() {
            return forEver();
        }

        @VirtualThread("mail")
        public CompletableFuture<String> hold(CountDownLatch release) throws InterruptedException {
            release.await();
            return completedFuture("held");
        }

        @VirtualThread(timeout = "${mailer.timeout}")
        public CompletableFuture<String> configured() {
            return forEver();
        }

        @VirtualThread
        public CompletableFuture<String> unbounded() {
            return forEver();
        }

        @VirtualThread(timeout = "30s")
        public CompletableFuture<String> patient(CountDownLatch release) throws InterruptedException {
            return hold(release);
        }

        private CompletableFuture<String> forEver() {
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
            return completedFuture("interrupted");
        }
    }
}
