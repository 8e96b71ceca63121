package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.execution.Deadline;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.http.HttpMethod;
import org.springframework.mock.http.client.MockClientHttpRequest;
import org.springframework.web.client.ResourceAccessException;

/** What a service that is called is told of the deadline, and which services are told. */
@Timeout(300)
class DeadlineHeaderTests {

    private static final String NAME = "X-Request-Timeout-Ms";

    @Test
    void aNamedHostIsToldWhatIsLeft() throws Exception {
        String sent = Deadline.call(Duration.ofMinutes(10), () -> sent("http://reviews:8080/7", "reviews"));

        assertThat(Long.parseLong(String.valueOf(sent))).isBetween(300_000L, 600_000L);
    }

    @Test
    void withoutADeadlineNobodyIsTold() {
        assertThat(sent("http://reviews/7", "*")).isNull();
    }

    @ParameterizedTest
    @CsvSource({
        "http://reviews/, reviews, true",
        "https://user@REVIEWS:443/, Reviews, true",
        "http://a.shop.internal/, *.shop.internal, true",
        "http://a.b.Shop.Internal/, *.SHOP.internal, true",
        "http://shop.internal/, *.shop.internal, false",
        "http://evilshop.internal/, *.shop.internal, false",
        "http://a.shop.internal.evil.com/, *.shop.internal, false",
        "http://evil.com/?reviews, reviews, false",
        "http://reviews@evil.com/, reviews, false",
        "http://reviews.evil.com/, reviews, false",
        "http://anything/, *, true",
        "http://my_service/, *, true",
        "http://my_service/, my_service, false",
    })
    void onlyNamedHostsAreTold(String address, String host, boolean told) throws Exception {
        assertThat(Deadline.call(Duration.ofMinutes(10), () -> sent(address, host) != null))
                .isEqualTo(told);
    }

    /** As many digits as a server of ours reads. */
    @Test
    void theLongestTimeIsElevenDays() throws Exception {
        assertThat(Deadline.call(Duration.ofDays(30), () -> sent("http://reviews/", "reviews")))
                .isEqualTo("999999999");
    }

    @Test
    void aBlankNameIsRefused() {
        assertThatThrownBy(() -> new DeadlineHeader(" ", List.of("reviews")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must not be blank");
    }

    @Test
    void oneOfSeveralHostsIsEnough() throws Exception {
        assertThat(Deadline.call(Duration.ofMinutes(10), () -> sent("http://b/", "a", "b") != null))
                .isTrue();
    }

    @Test
    void onceTheDeadlineHasPassedANamedHostGetsNoRequest() throws Exception {
        String other = Deadline.call(Duration.ofNanos(1), () -> {
            assertThatThrownBy(() -> sent("http://reviews/7", "reviews"))
                    .isInstanceOf(ResourceAccessException.class)
                    .hasMessage("The deadline had passed before a request to reviews was sent")
                    .hasCauseInstanceOf(SocketTimeoutException.class);
            return String.valueOf(sent("http://traces/", "reviews"));
        });

        assertThat(other).isEqualTo("null");
    }

    private static @Nullable String sent(String address, String... hosts) {
        MockClientHttpRequest request = new MockClientHttpRequest(HttpMethod.GET, URI.create(address));
        new DeadlineHeader(NAME, List.of(hosts)).initialize(request);
        return request.getHeaders().getFirst(NAME);
    }
}
