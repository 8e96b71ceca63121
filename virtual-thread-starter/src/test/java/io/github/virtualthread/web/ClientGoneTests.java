package io.github.virtualthread.web;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

/** A client that goes away in the midst of an answer: the permit is back when the server notices it, or forgets the request. */
@Timeout(300)
@Tag("slow")
class ClientGoneTests {

    @ParameterizedTest
    @ValueSource(strings = {"/events", "/early-events", "/raw", "/stream", "/deferred", "/plain"})
    void thePermitComesBack(String path) {
        DoorApplication.run(Answers.class, context -> {
            DoorApplication it = new DoorApplication(context);
            Answers answers = context.getBean(Answers.class);

            try (Socket client = new Socket("localhost", it.port())) {
                client.getOutputStream().write(get(path));
                assertThat(answers.begun.await(2, MINUTES)).isTrue();
                assertThat(it.limit().inUse()).isOne();
                client.setSoLinger(true, 0); // resets the connection
            }
            answers.gone.countDown();

            it.awaitFreeOrForgotten();
        });
    }

    @Test
    void manyThatGoAwayLeaveAllPermits() {
        List<String> paths = List.of("/events", "/early-events", "/raw", "/stream", "/deferred", "/plain");
        DoorApplication.run(
                Answers.class,
                context -> {
                    DoorApplication it = new DoorApplication(context);
                    context.getBean(Answers.class).gone.countDown();

                    CountDownLatch away = new CountDownLatch(300);
                    for (int i = 0; i < 300; i++) {
                        String path = paths.get(i % paths.size());
                        boolean early = i % 5 == 0;
                        Thread.startVirtualThread(() -> {
                            try (Socket client = new Socket("localhost", it.port())) {
                                client.getOutputStream().write(get(path));
                                if (!early) {
                                    assertThat(client.getInputStream().read()).isPositive();
                                }
                                client.setSoLinger(true, 0);
                            } catch (IOException failure) {
                                throw new UncheckedIOException(failure);
                            } finally {
                                away.countDown();
                            }
                        });
                    }

                    // clients may wait for permits of requests that the server has forgotten, and these come back with
                    // the garbage
                    await().pollInterval(Duration.ofSeconds(1))
                            .atMost(Duration.ofMinutes(4))
                            .until(() -> {
                                System.gc(); // not all the time: that is most of the work on a busy machine
                                return away.getCount() == 0;
                            });
                    it.awaitFreeOrForgotten();
                },
                "limits.web.permits=20",
                "limits.web.queue-capacity=1000");
    }

    private static byte[] get(String path) {
        return "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(path).getBytes(US_ASCII);
    }

    @RestController
    static class Answers {

        final CountDownLatch begun = new CountDownLatch(1);
        final CountDownLatch gone = new CountDownLatch(1);

        private void awaitGone() {
            begun.countDown();
            try {
                assertThat(gone.await(2, MINUTES)).isTrue();
            } catch (InterruptedException interruption) {
                throw new IllegalStateException(interruption);
            }
        }

        @GetMapping("/events")
        SseEmitter events() {
            SseEmitter emitter = new SseEmitter(0L);
            Thread.startVirtualThread(() -> {
                awaitGone();
                try {
                    while (true) {
                        emitter.send("event");
                    }
                } catch (IOException | IllegalStateException broken) {
                    end(emitter, broken);
                }
            });
            return emitter;
        }

        private static void end(SseEmitter emitter, Exception broken) {
            try {
                emitter.completeWithError(broken);
            } catch (IllegalStateException ended) {
                // the container has noticed it first
            }
        }

        /** The events are written on the thread of the request, before it leaves. */
        @GetMapping("/early-events")
        SseEmitter earlyEvents() throws IOException {
            SseEmitter emitter = new SseEmitter(0L);
            awaitGone();
            for (int i = 0; i < 1000; i++) {
                emitter.send("x".repeat(1000));
            }
            emitter.complete();
            return emitter;
        }

        @GetMapping("/raw")
        void raw(HttpServletRequest request, HttpServletResponse response) {
            AsyncContext exchange = request.startAsync();
            exchange.setTimeout(0);
            awaitGone();
            try {
                for (int i = 0; i < 1000; i++) {
                    response.getOutputStream().write(new byte[1000]);
                    response.flushBuffer();
                }
                exchange.complete(); // the client was still there
            } catch (IOException broken) {
                // the handler gives up, and never ends the request
            }
        }

        @GetMapping("/stream")
        StreamingResponseBody stream() {
            return out -> {
                awaitGone();
                while (true) {
                    out.write(new byte[1000]);
                    out.flush();
                }
            };
        }

        @GetMapping("/deferred")
        DeferredResult<String> deferred() {
            DeferredResult<String> result = new DeferredResult<>(0L);
            Thread.startVirtualThread(() -> {
                awaitGone();
                result.setResult("late");
            });
            return result;
        }

        @GetMapping("/plain")
        String plain() {
            awaitGone();
            return "late";
        }
    }
}
