package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.Jam;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** The filter without Spring Boot, and what a server does only rarely. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class DoorByHandTests {

    private static final FilterChain NOTHING = (request, response) -> {};

    private final AnnotationConfigApplicationContext context =
            new AnnotationConfigApplicationContext(PlainSpring.class);
    private final VirtualThreads threads = context.getBean(VirtualThreads.class);
    private final TaskEngine engine = context.getBean(TaskEngine.class);
    private final TaskLimit limit = context.getBean(TaskLimits.class).get("web");
    private final MockHttpServletRequest request = new MockHttpServletRequest("GET", "/orders");
    private final MockHttpServletResponse response = new MockHttpServletResponse();
    private final WebLimitFilter filter = new WebLimitFilter(threads, "web", Duration.ofMinutes(5));

    @BeforeEach
    void allowAsynchronousAnswers() {
        request.setAsyncSupported(true);
    }

    @AfterEach
    void allPermitsAreFree() {
        assertThat(limit.inUse()).isZero();
        assertThat(engine.liveCalls().running(limit)).isEmpty();
        context.close();
    }

    @Test
    void aRequestHasPermitAndDeadline() throws Exception {
        filter.doFilter(request, response, (any, other) -> {
            assertThat(limit.inUse()).isOne();
            assertThat(engine.holdsPermitOf(limit)).isTrue();
            assertThat(Deadline.remaining().orElseThrow()).isBetween(Duration.ofNanos(1), Duration.ofMinutes(5));
        });

        assertThat(Deadline.remaining()).isEmpty();
        assertThat(engine.holdsPermitOf(limit)).isFalse();
        assertThat(response.getStatus()).isEqualTo(200);
    }

    @Test
    void whatIsRejectedInALaterDispatchSaysWhatDeadlineTheRequestHad() throws Exception {
        WebLimitFilter withoutLimit = new WebLimitFilter(threads, null, Duration.ofMillis(2));
        withoutLimit.doFilter(request, response, (any, other) -> {
            any.startAsync();
            while (Deadline.remaining().orElseThrow().isPositive()) {
                Thread.onSpinWait();
            }
        });
        request.setDispatcherType(DispatcherType.ASYNC);

        withoutLimit.doFilter(request, response, (any, other) -> assertThatThrownBy(() -> threads.call("web", () -> ""))
                .isInstanceOf(LimitExceededException.class)
                .hasMessageContaining("its deadline of 0.002s passed before it began"));
    }

    @Test
    void aWrongLimitOrDeadlineIsThrownAtOnce() {
        assertThatThrownBy(() -> new WebLimitFilter(threads, "wbe", null))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("wbe");
        assertThatThrownBy(() -> new WebLimitFilter(threads, "web", Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A deadline of requests must be longer than zero, was 0s");
        assertThatThrownBy(() -> new WebLimitFilter(() -> threads, null, Duration.ofSeconds(-1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A deadline of requests must be longer than zero, was -1s");
    }

    @Test
    void theBeanIsLookedUpOnce() throws Exception {
        AtomicInteger lookups = new AtomicInteger();
        WebLimitFilter late = new WebLimitFilter(
                () -> {
                    lookups.incrementAndGet();
                    return threads;
                },
                "web",
                null);
        assertThat(lookups).hasValue(0);

        late.doFilter(request, response, NOTHING);

        assertThat(lookups).hasValue(1);
    }

    @Test
    void theServerForgetsARequest() throws Exception {
        MockHttpServletRequest forgotten = new MockHttpServletRequest("GET", "/orders");
        forgotten.setAsyncSupported(true);
        filter.doFilter(forgotten, new MockHttpServletResponse(), (any, other) -> any.startAsync());
        assertThat(limit.inUse()).isOne();
        assertThat(forgotten.isAsyncStarted()).isTrue();

        forgotten = null;

        await().atMost(Duration.ofMinutes(4)).until(() -> {
            System.gc();
            return limit.inUse() == 0;
        });
    }

    @Test
    void anExcludedRequestHasNeither() throws Exception {
        filter.setExclude(any -> true);

        filter.doFilter(request, response, (any, other) -> {
            assertThat(limit.inUse()).isZero();
            assertThat(Deadline.remaining()).isEmpty();
        });
    }

    @Test
    void whatTheFiltersBehindThrowIsThrown() {
        for (Throwable failure : new Throwable[] {
            new ServletException(),
            new IOException(),
            new IllegalStateException(),
            new OutOfMemoryError(),
            new LimitExceededException("Prices.find", null, Reason.SHUTDOWN)
        }) {
            assertThatThrownBy(() -> filter.doFilter(request, response, (any, other) -> sneak(failure)))
                    .isSameAs(failure);
            assertThat(limit.inUse()).isZero();
        }
        Exception checked = new Exception("of a filter that is not written in Java");
        assertThatThrownBy(() -> filter.doFilter(request, response, (any, other) -> sneak(checked)))
                .isInstanceOf(ServletException.class)
                .hasCause(checked);
        assertThat(response.getStatus()).isEqualTo(200);
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void sneak(Throwable failure) throws E {
        throw (E) failure;
    }

    @Test
    void aRequestThatIsInterruptedWhileItWaitsIsAnswered503() throws Exception {
        filter.setRejectedStatus(429);
        CountDownLatch over = new CountDownLatch(1);
        AtomicBoolean flag = new AtomicBoolean();
        filter.doFilter(request, new MockHttpServletResponse(), (any, other) -> {
            Thread waiting = Thread.startVirtualThread(() -> {
                try {
                    filter.doFilter(new MockHttpServletRequest(), response, NOTHING);
                } catch (IOException | ServletException failure) {
                    throw new IllegalStateException(failure);
                }
                flag.set(Thread.interrupted());
                over.countDown();
            });
            await().atMost(Duration.ofMinutes(2)).until(() -> limit.waiting() == 1);
            waiting.interrupt();
            await().atMost(Duration.ofMinutes(2)).until(() -> over.getCount() == 0);
        });

        assertThat(flag).isTrue();
        assertThat(response.getStatus()).isEqualTo(503);
        assertThat(response.getHeader("Retry-After")).isEqualTo("1");
    }

    /** As long as the wait that the limit expects, up to a minute. */
    @Tag("slow")
    @Test
    void aHopelessRequestMayTryAgainWhenItWouldNotWait() throws Exception {
        limit.change(now -> now.withRejectHopeless(true));
        try (Jam jam = new Jam(limit, Duration.ofMinutes(3))) {
            filter.doFilter(request, response, NOTHING);
        }

        assertThat(response.getStatus()).isEqualTo(503);
        assertThat(response.getHeader("Retry-After")).isEqualTo("60");
    }

    @Test
    void requestsThatWaitOnPlatformThreadsAreReportedOnce(CapturedOutput output) throws Exception {
        filter.doFilter(request, response, (any, other) -> {
            assertThat(output).doesNotContain("platform threads");
            for (int i = 0; i < 2; i++) {
                Thread waiting = Thread.ofPlatform().start(this::ask);
                await().atMost(Duration.ofMinutes(2)).until(() -> limit.waiting() == 1);
                waiting.interrupt();
                await().atMost(Duration.ofMinutes(2)).until(() -> limit.waiting() == 0);
            }
        });

        assertThat(output)
                .containsOnlyOnce("Web requests wait under limit 'web' on platform threads")
                .contains("set virtual-thread.limits.web.queue-capacity to 0.");
    }

    @Test
    void requestsThatRunInADryRunAreNotReported(CapturedOutput output) throws Exception {
        limit.change(now -> now.withDryRun(true));
        filter.doFilter(request, response, (any, other) -> {
            Thread another = Thread.ofPlatform().start(this::ask);
            await().atMost(Duration.ofMinutes(2)).until(() -> !another.isAlive());
        });

        assertThat(output).doesNotContain("platform threads");
    }

    private void ask() {
        try {
            filter.doFilter(new MockHttpServletRequest(), new MockHttpServletResponse(), NOTHING);
        } catch (IOException | ServletException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Test
    void anAnswerThatIsCompleteBeforeTheListenerIsAddedGivesThePermitBack() throws Exception {
        filter.doFilter(request, response, (any, other) -> startAsync(new IllegalStateException("complete")));

        assertThat(limit.inUse()).isZero();
    }

    @Test
    void whereMemoryIsShortThePermitComesBack() {
        OutOfMemoryError shortage = new OutOfMemoryError();

        assertThatThrownBy(() -> filter.doFilter(request, response, (any, other) -> startAsync(shortage)))
                .isSameAs(shortage);
        assertThat(limit.inUse()).isZero();
    }

    @Test
    void aRequestThatEndsTwiceGivesOnePermitBack() throws Exception {
        filter.doFilter(request, response, (any, other) -> request.startAsync());
        assertThat(limit.inUse()).isOne();
        MockAsyncContext exchange = (MockAsyncContext) request.getAsyncContext();

        exchange.complete();
        exchange.complete();

        assertThat(limit.inUse()).isZero();
        assertThat(limit.available()).isOne();
    }

    /** Not every server reports the end of such a request. */
    @Test
    void aRequestThatFailsAfterItHasBecomeAsynchronousGivesThePermitBack() {
        ServletException failure = new ServletException();

        assertThatThrownBy(() -> filter.doFilter(request, response, (any, other) -> {
                    any.startAsync();
                    throw failure;
                }))
                .isSameAs(failure);
        assertThat(limit.inUse()).isZero();
    }

    /** Not every server completes such a request. */
    @Test
    void anErrorThatTheServerReportsGivesThePermitBack() throws Exception {
        filter.doFilter(request, response, (any, other) -> any.startAsync());
        assertThat(limit.inUse()).isOne();
        MockAsyncContext exchange = (MockAsyncContext) request.getAsyncContext();

        for (AsyncListener listener : exchange.getListeners()) {
            listener.onError(new AsyncEvent(exchange, new IOException("reset")));
        }

        assertThat(limit.inUse()).isZero();
    }

    @Test
    void anErrorDispatchNeedsNoPermit() throws Exception {
        request.setDispatcherType(DispatcherType.ERROR);
        request.setAttribute("jakarta.servlet.error.request_uri", "/orders");

        filter.doFilter(
                request, response, (any, other) -> assertThat(limit.inUse()).isZero());
    }

    private void startAsync(Throwable ofAddListener) {
        request.startAsync();
        request.setAsyncContext(new MockAsyncContext(request, response) {
            @Override
            public void addListener(AsyncListener listener) {
                DoorByHandTests.<RuntimeException>sneak(ofAddListener);
            }
        });
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class PlainSpring {

        @Bean
        LimitSettings web() {
            return LimitSettings.of("web", 1);
        }
    }
}
