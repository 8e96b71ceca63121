package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.CallCancelledException;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.HttpServletResponseWrapper;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.web.DelegatingServletOutputStream;
import org.springframework.mock.web.MockAsyncContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** What a server tells of clients that have gone, and what becomes of their requests. */
@Timeout(300)
class AbandonedByHandTests {

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(Limits.class);
    private final VirtualThreads threads = context.getBean(VirtualThreads.class);
    private final TaskLimit db = context.getBean(TaskLimits.class).get("db");
    private final CountDownLatch gate = new CountDownLatch(1);
    private final MockHttpServletRequest request = new MockHttpServletRequest("GET", "/orders");
    private final MockHttpServletResponse response = new MockHttpServletResponse();
    private final WebLimitFilter filter = new WebLimitFilter(threads, null, null);
    private final WebMvcRejections rejections =
            new WebMvcRejections(() -> List.of(new RejectionAnswer(503, Duration.ofSeconds(1))), () -> null);

    @BeforeEach
    void cancelAbandoned() {
        filter.setCancelAbandoned(true);
        request.setAsyncSupported(true);
    }

    @AfterEach
    void close() {
        gate.countDown();
        context.close();
        assertThat(Deadline.remaining()).isEmpty();
    }

    /** A call of a request that is answered asynchronously; it runs until the gate opens, or it is interrupted. */
    private CompletableFuture<Object> running() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<CompletableFuture<Object>> call = new CompletableFuture<>();
        filter.doFilter(request, response, (any, other) -> {
            any.startAsync(any, other);
            call.complete(threads.submit("db", () -> {
                begun.countDown();
                gate.await();
                return "ran";
            }));
        });
        assertThat(begun.await(2, TimeUnit.MINUTES)).isTrue();
        return call.join();
    }

    private AsyncEvent event(@Nullable Throwable failure) {
        return new AsyncEvent(request.getAsyncContext(), request, response, failure);
    }

    private List<AsyncListener> listeners() {
        return ((MockAsyncContext) request.getAsyncContext()).getListeners();
    }

    private static Throwable failureOf(CompletableFuture<?> call) throws Exception {
        return call.handle((value, failure) -> failure).get(2, TimeUnit.MINUTES);
    }

    @Test
    void anErrorOfTheConnectionEndsTheCalls() throws Exception {
        CompletableFuture<Object> call = running();

        for (AsyncListener listener : listeners()) {
            listener.onError(event(new IOException("Connection reset by peer")));
        }

        assertThat(failureOf(call)).isInstanceOf(CallCancelledException.class);
    }

    @Test
    void anErrorOfTheApplicationDoesNot() throws Exception {
        CompletableFuture<Object> call = running();

        for (AsyncListener listener : listeners()) {
            listener.onError(event(new IllegalStateException("a bug")));
        }

        assertGoesOn(call);
    }

    /** Tomcat reports a failure of the application in the same way. */
    @Test
    void neitherDoesAnInputOrOutputThatFailsInTheApplication() throws Exception {
        CompletableFuture<Object> call = running();
        List<AsyncListener> listeners = listeners();
        request.setDispatcherType(DispatcherType.ASYNC);
        request.setAsyncStarted(false);
        IOException ofApplication = new FileNotFoundException("prices.csv");
        assertThatThrownBy(() -> filter.doFilter(request, response, (any, other) -> {
                    throw ofApplication;
                }))
                .isSameAs(ofApplication);

        for (AsyncListener listener : listeners) {
            listener.onError(event(ofApplication));
        }

        assertThat(WebLimitFilter.isClientGone(request)).isFalse(); // a call would be interrupted a moment later
        assertGoesOn(call);
    }

    @Test
    void neitherDoesAWriteAfterTheApplicationHasClosedItsAnswer() throws Exception {
        filter.doFilter(request, new ClosedOnce(response), (any, other) -> {
            other.getOutputStream().close();
            assertThatThrownBy(() -> other.getOutputStream().write('x')).isInstanceOf(IOException.class);
            assertThat(threads.submit("db", () -> "ran"))
                    .succeedsWithin(2, TimeUnit.MINUTES)
                    .isEqualTo("ran");
        });

        assertThat(response.getStatus()).isEqualTo(200);
    }

    /** Each would have a scope of its own, and the calls belong to one of them. */
    @Test
    void ofTwoFiltersTheFirstOneWatches() throws Exception {
        WebLimitFilter inner = new WebLimitFilter(threads, null, null);
        inner.setBeanName("inner"); // filters of one name run once
        inner.setCancelAbandoned(true);

        filter.doFilter(request, response, (any, other) -> {
            Object client = any.getAttribute(WebLimitFilter.class.getName() + ".CLIENT");
            inner.doFilter(
                    any, other, (same, one) -> assertThat(same.getAttribute(WebLimitFilter.class.getName() + ".CLIENT"))
                            .isNotNull()
                            .isSameAs(client));
        });
    }

    private void assertGoesOn(CompletableFuture<Object> call) {
        gate.countDown();
        assertThat(call).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
    }

    @Test
    void anAnswerThatIsCompleteEndsNoCall() throws Exception {
        CompletableFuture<Object> call = running();

        for (AsyncListener listener : listeners()) {
            listener.onComplete(event(null));
        }

        assertGoesOn(call);
    }

    /** A future that the controller does not return, such as one that fills a cache. */
    @Test
    void noAnswerEndsACallThatItsControllerLeavesBehind() throws Exception {
        CompletableFuture<CompletableFuture<Object>> call = new CompletableFuture<>();
        filter.doFilter(
                request,
                response,
                (any, other) -> call.complete(threads.submit("db", () -> {
                    gate.await();
                    return "ran";
                })));

        assertGoesOn(call.join());
        assertThat(response.getStatus()).isEqualTo(200);
    }

    @Test
    void theTimeoutOfTheServerIsADeadline() throws Exception {
        CompletableFuture<Object> call = running();
        request.getAsyncContext().setTimeout(7_000);

        for (AsyncListener listener : listeners()) {
            listener.onTimeout(event(null));
        }

        assertThat(failureOf(call))
                .isInstanceOf(CallTimeoutException.class)
                .hasMessageContaining("ran past its caller's deadline of 7s");
        dispatch(503);
        assertThat(response.getStatus()).isEqualTo(503);
    }

    /** Spring MVC goes on with the request, and handles the failure. */
    private void dispatch(int status) throws Exception {
        request.setDispatcherType(DispatcherType.ASYNC);
        request.setAsyncStarted(false);
        filter.doFilter(request, response, (any, other) -> ((HttpServletResponse) other).setStatus(status));
    }

    @Test
    void theRequestHasStatus499AlsoIfItIsDispatched() throws Exception {
        running();
        for (AsyncListener listener : listeners()) {
            listener.onError(event(new IOException("Connection reset by peer")));
        }

        request.setDispatcherType(DispatcherType.ASYNC);
        request.setAsyncStarted(false);
        filter.doFilter(request, response, (any, other) -> {
            ((HttpServletResponse) other).setStatus(503);
            assertThatThrownBy(() -> threads.call("db", () -> "ran"))
                    .isInstanceOfSatisfying(LimitExceededException.class, rejection -> assertThat(rejection.reason())
                            .isEqualTo(Reason.CLIENT_GONE));
        });

        assertThat(response.getStatus()).isEqualTo(499);
    }

    @Test
    void aWriteThatFailsEndsTheCallsOfTheFirstThreadToo() throws Exception {
        filter.doFilter(request, new Broken(response), (any, other) -> {
            assertThatThrownBy(other::flushBuffer).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> threads.call("db", () -> "ran"))
                    .isInstanceOfSatisfying(LimitExceededException.class, rejection -> {
                        assertThat(rejection.reason()).isEqualTo(Reason.CLIENT_GONE);
                        assertIsResolved(rejection);
                        assertIsResolved(new IllegalStateException("of the controller", rejection));
                        assertIsResolved(new IOException("of the container"));
                    });
            assertThat(rejections.resolveException(request, response, null, new IllegalStateException("a bug")))
                    .isNull();
        });

        assertThat(response.getStatus()).isEqualTo(499);
        assertThat(response.getHeader("Connection")).isEqualTo("close");
        assertThat(response.getHeaderNames()).hasSize(1);
    }

    private void assertIsResolved(Exception failure) {
        assertThat(rejections.resolveException(request, response, null, failure))
                .isNotNull()
                .satisfies(answer -> assertThat(answer.isEmpty()).isTrue());
    }

    @Test
    void aWriteThatFailsLaterEndsThemToo() throws Exception {
        CompletableFuture<HttpServletResponse> answer = new CompletableFuture<>();
        CompletableFuture<CompletableFuture<Object>> call = new CompletableFuture<>();
        filter.doFilter(request, new Broken(response), (any, other) -> {
            any.startAsync(any, other);
            answer.complete((HttpServletResponse) other);
            call.complete(threads.submit("db", () -> {
                gate.await();
                return "ran";
            }));
        });

        assertThatThrownBy(answer.join()::flushBuffer).isInstanceOf(IOException.class);

        assertThat(failureOf(call.join())).isInstanceOfAny(CallCancelledException.class, LimitExceededException.class);
    }

    @Test
    void aStatusThatIsCommittedStays() throws Exception {
        filter.doFilter(request, new Broken(response), (any, other) -> {
            assertThatThrownBy(other::flushBuffer).isInstanceOf(IOException.class);
            response.setCommitted(true);
        });

        assertThat(response.getStatus()).isEqualTo(200);
    }

    @Test
    void aRequestThatWaitedAtTheDoorHasStatus499WithoutAHeader() throws Exception {
        filter.doFilter(request, new Broken(response), (any, other) -> {
            assertThatThrownBy(other::flushBuffer).isInstanceOf(IOException.class);
            MockHttpServletResponse inner = new MockHttpServletResponse();
            new WebLimitFilter(threads, "db", null)
                    .doFilter(new MockHttpServletRequest(), inner, (never, reached) -> gate.countDown());
            assertThat(inner.getStatus()).isEqualTo(499);
            assertThat(inner.getHeaderNames()).containsExactly("Content-Length");
        });
        assertThat(gate.getCount()).isOne();
        assertThat(db.inUse()).isZero();
    }

    @Test
    void anExcludedRequestIsLeftAlone() throws Exception {
        filter.setExclude(any -> true);

        CompletableFuture<Object> call = running();

        assertThat(listeners()).isEmpty();
        assertGoesOn(call);
    }

    @Test
    void withoutThePropertyTheCallsGoOn() throws Exception {
        filter.setCancelAbandoned(false);

        filter.doFilter(request, new Broken(response), (any, other) -> {
            assertThatThrownBy(other::flushBuffer).isInstanceOf(IOException.class);
            assertThat(threads.submit("db", () -> "ran"))
                    .succeedsWithin(2, TimeUnit.MINUTES)
                    .isEqualTo("ran");
        });

        assertThat(response.getStatus()).isEqualTo(200);
    }

    private static final class Broken extends HttpServletResponseWrapper {

        Broken(HttpServletResponse response) {
            super(response);
        }

        @Override
        public void flushBuffer() throws IOException {
            throw new IOException("Broken pipe");
        }
    }

    /** As those of Tomcat and Jetty. */
    private static final class ClosedOnce extends HttpServletResponseWrapper {

        private boolean closed;

        ClosedOnce(HttpServletResponse response) {
            super(response);
        }

        @Override
        public ServletOutputStream getOutputStream() throws IOException {
            return new DelegatingServletOutputStream(super.getOutputStream()) {
                @Override
                public void write(int character) throws IOException {
                    if (closed) {
                        throw new IOException("The response may not be written to once it has been closed");
                    }
                    super.write(character);
                }

                @Override
                public void close() throws IOException {
                    super.close();
                    closed = true;
                }
            };
        }
    }

    @EnableVirtual
    @Configuration(proxyBeanMethods = false)
    static class Limits {

        @Bean
        LimitSettings db() {
            return LimitSettings.of("db", 1);
        }
    }
}
