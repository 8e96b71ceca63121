package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.execution.VirtualThreads;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** A client may say how long it waits: that shortens the deadline of its request, and never lengthens it. */
@Timeout(300)
class DoorDeadlineHeaderTests {

    private static final String HEADER = "X-Request-Timeout-Ms";
    private static final Duration OURS = Duration.ofMinutes(10);

    private final AnnotationConfigApplicationContext context =
            new AnnotationConfigApplicationContext(PlainSpring.class);
    private final VirtualThreads threads = context.getBean(VirtualThreads.class);

    @AfterEach
    void close() {
        context.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "60000", "0060000", "599999"})
    void aShorterTimeCounts(String sent) throws Exception {
        Duration asked = Duration.ofMillis(Integer.parseInt(sent));

        assertThat(left(filter(OURS), sent)).get().satisfies(left -> assertThat(left)
                .isLessThanOrEqualTo(asked));
        assertThat(left(filter(null), sent)).get().satisfies(left -> assertThat(left)
                .isLessThanOrEqualTo(asked));
    }

    @ParameterizedTest
    @ValueSource(strings = {"600001", "999999999"})
    void aLongerTimeCountsOnlyWithoutADeadlineOfOurs(String sent) throws Exception {
        assertThat(left(filter(OURS), sent)).get().satisfies(left -> assertThat(left)
                .isBetween(Duration.ofMinutes(5), OURS));
        assertThat(left(filter(null), sent)).get().satisfies(left -> assertThat(left)
                .isBetween(OURS.minusMinutes(5), Duration.ofMillis(Integer.parseInt(sent))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0",
                "000000000",
                "-5",
                "+5",
                "abc",
                "1e3",
                "5000,1",
                "5 000",
                "1.5",
                "0x10",
                "5s",
                "1234567890",
                "10000000000",
                "٥"
            })
    void anythingElseCountsAsNotSent(String sent) throws Exception {
        assertThat(left(filter(OURS), sent)).get().satisfies(left -> assertThat(left)
                .isBetween(Duration.ofMinutes(5), OURS));
        assertThat(left(filter(null), sent)).isEmpty();
    }

    @Test
    void aRequestWithoutTheHeaderHasTheDeadlineOfThisFilter() throws Exception {
        assertThat(left(filter(OURS), null)).get().satisfies(left -> assertThat(left)
                .isBetween(Duration.ofMinutes(5), OURS));
        assertThat(left(filter(null), null)).isEmpty();
    }

    @Test
    void anExcludedRequestHasNone() throws Exception {
        WebLimitFilter filter = filter(OURS);
        filter.setExclude(any -> true);

        assertThat(left(filter, "5")).isEmpty();
    }

    @Test
    void theHeaderOfNobodyIsNotRead() throws Exception {
        assertThat(left(new WebLimitFilter(threads, null, null), "5")).isEmpty();
    }

    private WebLimitFilter filter(@Nullable Duration ours) {
        WebLimitFilter filter = new WebLimitFilter(threads, null, ours);
        filter.setDeadlineHeader(HEADER);
        return filter;
    }

    private static Optional<Duration> left(WebLimitFilter filter, @Nullable String sent) throws Exception {
        MockHttpServletRequest request = new MockHttpServletRequest("GET", "/orders");
        if (sent != null) {
            request.addHeader(HEADER.toLowerCase(Locale.ROOT), sent);
        }
        AtomicReference<Optional<Duration>> seen = new AtomicReference<>(Optional.empty());
        filter.doFilter(request, new MockHttpServletResponse(), (any, other) -> seen.set(Deadline.remaining()));
        assertThat(Deadline.remaining()).isEmpty();
        return seen.get();
    }

    @EnableVirtual
    static class PlainSpring {}
}
