package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletOutputStream;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.WriteListener;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

/** The client has gone away, and the server reports it only to who writes, as Jetty does. */
@Timeout(300)
class FailedWriteTests {

    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(OnePermit.class);
    private final TaskLimit limit = context.getBean(TaskLimits.class).get("web");
    private final WebLimitFilter filter = new WebLimitFilter(context.getBean(VirtualThreads.class), "web", null);
    private final MockHttpServletRequest request = new MockHttpServletRequest("GET", "/orders");
    private final BrokenResponse broken = new BrokenResponse();

    @BeforeEach
    void allowAsynchronousAnswers() {
        request.setAsyncSupported(true);
    }

    @AfterEach
    void allPermitsAreFree() {
        assertThat(limit.inUse()).isZero();
        context.close();
    }

    @ParameterizedTest
    @EnumSource
    void thatOfAnotherThreadGivesThePermitBack(Write write) throws Exception {
        ServletResponse response = startAsync();
        write.succeed(response);
        assertThat(limit.inUse()).isOne();

        broken.gone = true;
        write.fail(response);

        assertThat(limit.inUse()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void thatOfTheFirstThreadGivesThePermitBackWhenItLeaves(Write write) throws Exception {
        broken.gone = true;
        filter.doFilter(request, broken, (any, response) -> {
            any.startAsync();
            write.fail(response);
            assertThat(limit.inUse()).isOne();
        });

        assertThat(request.isAsyncStarted()).isTrue();
        assertThat(limit.inUse()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void withoutAnAsynchronousAnswerItChangesNothing(Write write) throws Exception {
        broken.gone = true;
        filter.doFilter(request, broken, (any, response) -> {
            write.fail(response);
            assertThat(limit.inUse()).isOne();
        });
    }

    @Test
    void aListenerOfWritesHearsOfThemToo() throws Exception {
        ServletOutputStream out = startAsync().getOutputStream();
        AtomicReference<Throwable> heard = new AtomicReference<>();
        AtomicReference<String> possible = new AtomicReference<>();
        out.setWriteListener(new WriteListener() {
            @Override
            public void onWritePossible() {
                possible.set("possible");
            }

            @Override
            public void onError(Throwable failure) {
                heard.set(failure);
            }
        });

        WriteListener ofServer = broken.out.listener;
        assertThat(ofServer).isNotNull();
        ofServer.onWritePossible();
        assertThat(possible).hasValue("possible");
        assertThat(out.isReady()).isTrue();
        assertThat(limit.inUse()).isOne();

        IOException failure = new IOException("reset");
        ofServer.onError(failure);

        assertThat(heard).hasValue(failure);
        assertThat(limit.inUse()).isZero();
    }

    @Test
    void whatIsWrittenArrives() throws Exception {
        filter.doFilter(request, broken, (any, response) -> {
            ServletOutputStream out = response.getOutputStream();
            assertThat(response.getOutputStream()).isSameAs(out);
            out.write('a');
            out.write(new byte[] {'b', 'c'});
            out.print("\u20ac"); // no Latin 1
            out.print(7);
        });

        assertThat(broken.out.written).hasToString("abc\u20ac7");
    }

    /** One of ours would hold a lock, and below Java 24 a carrier, while the server waits for a slow client. */
    @Test
    void aWriterIsThatOfTheServer() throws Exception {
        filter.doFilter(request, broken, (any, response) -> assertThat(response.getWriter())
                .isSameAs(broken.writer));
    }

    private ServletResponse startAsync() throws Exception {
        AtomicReference<ServletResponse> kept = new AtomicReference<>();
        FilterChain handler = (any, response) -> {
            any.startAsync();
            kept.set(response);
        };
        filter.doFilter(request, broken, handler);
        return kept.get();
    }

    enum Write {
        BYTE(response -> response.getOutputStream().write(1)),
        BYTES(response -> response.getOutputStream().write(new byte[2])),
        FLUSH(response -> response.getOutputStream().flush()),
        CLOSE(response -> response.getOutputStream().close()),
        FLUSH_BUFFER(ServletResponse::flushBuffer),
        PRINT(response -> response.getOutputStream().println("text"));

        private final Step step;

        Write(Step step) {
            this.step = step;
        }

        void succeed(ServletResponse response) throws IOException {
            step.take(response);
        }

        void fail(ServletResponse response) {
            ThrowingCallable call = () -> step.take(response);
            assertThatThrownBy(call).isInstanceOf(IOException.class);
        }

        interface Step {
            void take(ServletResponse response) throws IOException;
        }
    }

    private static final class BrokenResponse extends MockHttpServletResponse {

        private final Out out = new Out();
        private final PrintWriter writer = new PrintWriter(out);
        private boolean gone;

        @Override
        public ServletOutputStream getOutputStream() {
            return out;
        }

        @Override
        public PrintWriter getWriter() {
            return writer;
        }

        /** Named by no signature of its parent, which throws nothing. */
        @Override
        public void flushBuffer() {
            if (gone) {
                FailedWriteTests.<RuntimeException>sneak(new IOException("gone"));
            }
        }

        private final class Out extends ServletOutputStream {

            private final StringBuilder written = new StringBuilder();
            private @Nullable WriteListener listener;

            private void check() throws IOException {
                if (gone) {
                    throw new IOException("gone");
                }
            }

            @Override
            public void write(int b) throws IOException {
                check();
                written.append((char) b);
            }

            /** As Jetty does: in the encoding of the answer. */
            @Override
            public void print(String text) throws IOException {
                check();
                written.append(text);
            }

            @Override
            public void flush() throws IOException {
                check();
            }

            @Override
            public void close() throws IOException {
                check();
            }

            @Override
            public boolean isReady() {
                return true;
            }

            @Override
            public void setWriteListener(WriteListener ofHandler) {
                listener = ofHandler;
            }
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void sneak(Throwable failure) throws E {
        throw (E) failure;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class OnePermit {

        @Bean
        LimitSettings web() {
            return LimitSettings.of("web", 1);
        }
    }
}
