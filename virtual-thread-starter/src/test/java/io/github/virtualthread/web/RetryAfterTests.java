package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.HttpHeaders;

/** A limit that knows how long a call would wait says when the client should try again. */
class RetryAfterTests {

    @ParameterizedTest
    @CsvSource({
        "5s, , 5",
        "5s, 1ms, 1",
        "5s, 1s, 1",
        "5s, 1010ms, 2",
        "5s, 59001ms, 60",
        "5s, 1h, 60",
        "5m, , 300",
        "0s, 7s, ",
    })
    void itIsTheExpectedWait(String configured, @Nullable String expected, @Nullable String seconds) {
        LimitExceededException rejection = new LimitExceededException("Shop.price", null, Reason.QUEUE_FULL) {
            @Override
            public Optional<Duration> expectedWait() {
                return Optional.ofNullable(expected).map(RetryAfterTests::duration);
            }
        };

        RejectionAnswer answer = Objects.requireNonNull(RejectionAnswer.to(
                new CompletionException(rejection), List.of(new RejectionAnswer(429, duration(configured)))));

        assertThat(answer.status()).isEqualTo(429);
        assertThat(answer.problem(rejection).getHeaders().getFirst(HttpHeaders.RETRY_AFTER))
                .isEqualTo(seconds);
    }

    private static Duration duration(String text) {
        return text.endsWith("ms")
                ? Duration.ofMillis(Long.parseLong(text.replace("ms", "")))
                : Duration.parse("PT" + text);
    }
}
