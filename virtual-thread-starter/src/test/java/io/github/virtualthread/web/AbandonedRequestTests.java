package io.github.virtualthread.web;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.Ordered;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Clients go away while Tomcat works on their requests by HTTP/1.1, which only Linux tells. */
@Timeout(300)
@Tag("slow")
@EnabledOnOs(OS.LINUX)
@ExtendWith(OutputCaptureExtension.class)
class AbandonedRequestTests {

    @ParameterizedTest
    @CsvSource({"/future, false", "/future, true", "/join, false", "/join, true"})
    void aClientThatHasGoneEndsWhatRunsAndWhatWaits(String path, boolean reset, CapturedOutput output) {
        run(it -> {
            Socket first = it.send(path);
            Socket second = it.send(path);
            await().atMost(Duration.ofMinutes(2))
                    .until(() -> it.db().inUse() == 1 && it.db().waiting() == 1);
            it.awaitLook(); // an RST leaves no line: the one before must have been seen

            for (Socket client : new Socket[] {first, second}) {
                client.setSoLinger(reset, 0);
                client.close();
            }

            await().atMost(Duration.ofMinutes(2))
                    .until(() -> it.db().inUse() == 0 && it.db().waiting() == 0);
            assertThat(it.answers()).containsExactly(499, 499);
            assertThat(it.bean(Seen.class).failures.poll(2, TimeUnit.MINUTES)).isInstanceOf(InterruptedException.class);
        });
        assertThat(output).doesNotContain("ERROR", "CLIENT_GONE");
    }

    @Test
    void aClientThatStaysGetsItsAnswer() {
        run(it -> {
            try (Socket client = it.send("/future")) {
                await().atMost(Duration.ofMinutes(2)).until(() -> it.db().inUse() == 1);
                it.awaitLook();
                it.bean(Seen.class).gate.countDown();
                assertThat(new String(client.getInputStream().readNBytes(12), US_ASCII))
                        .isEqualTo("HTTP/1.1 200");
            }
        });
    }

    private interface Trial {
        void run(Application it) throws Exception;
    }

    private static void run(Trial trial) {
        DoorApplication.RUNNER
                .withUserConfiguration(Shop.class)
                .withPropertyValues(
                        "virtual-thread.web.limit=none",
                        "virtual-thread.limits.db.permits=1",
                        "virtual-thread.web.cancel-abandoned=true")
                .run(context -> {
                    Application it = new Application(new DoorApplication(context));
                    trial.run(it);
                });
    }

    private record Application(DoorApplication it) {

        <T> T bean(Class<T> type) {
            return it.bean(type);
        }

        TaskLimit db() {
            return bean(TaskLimits.class).get("db");
        }

        Socket send(String path) throws IOException {
            Socket client = new Socket("localhost", it.port());
            client.getOutputStream()
                    .write("GET %s HTTP/1.1\r\nHost: shop\r\n\r\n"
                            .formatted(path)
                            .getBytes(US_ASCII));
            return client;
        }

        /** Another client comes and goes: who notices that has seen those that came before. */
        void awaitLook() throws Exception {
            send("/mark").close();
            assertThat(bean(Seen.class).marks.poll(2, TimeUnit.MINUTES)).isInstanceOf(InterruptedException.class);
            assertThat(bean(Seen.class).statuses.poll(2, TimeUnit.MINUTES)).isEqualTo(499);
        }

        Integer[] answers() throws InterruptedException {
            BlockingQueue<Integer> statuses = bean(Seen.class).statuses;
            Integer first = statuses.poll(2, TimeUnit.MINUTES);
            return new Integer[] {first, statuses.poll(2, TimeUnit.MINUTES)};
        }
    }

    /** What happened, beside the beans that are proxies. */
    static class Seen {

        final CountDownLatch gate = new CountDownLatch(1);
        final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
        final BlockingQueue<Throwable> marks = new LinkedBlockingQueue<>();
        final BlockingQueue<Integer> statuses = new LinkedBlockingQueue<>();
    }

    static class Work {

        private final Seen seen;

        Work(Seen seen) {
            this.seen = seen;
        }

        @VirtualThread(limit = "db")
        CompletableFuture<String> price() throws InterruptedException {
            return waits(seen.failures);
        }

        @VirtualThread(limit = "none")
        CompletableFuture<String> mark() throws InterruptedException {
            return waits(seen.marks);
        }

        private CompletableFuture<String> waits(BlockingQueue<Throwable> failures) throws InterruptedException {
            try {
                seen.gate.await();
            } catch (InterruptedException stopped) {
                failures.add(stopped);
                throw stopped;
            }
            return CompletableFuture.completedFuture("5");
        }
    }

    @RestController
    static class Prices {

        private final Work work;

        Prices(Work work) {
            this.work = work;
        }

        @GetMapping("/future")
        CompletableFuture<String> future() throws InterruptedException {
            return work.price().thenApply(String::strip);
        }

        @GetMapping("/mark")
        CompletableFuture<String> mark() throws InterruptedException {
            return work.mark();
        }

        @GetMapping("/join")
        String join() throws InterruptedException {
            return work.price().join();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import({Seen.class, Work.class, Prices.class})
    static class Shop {

        /** Where an access log would be. */
        @Bean
        FilterRegistrationBean<Filter> statuses(Seen seen) {
            FilterRegistrationBean<Filter> statuses = new FilterRegistrationBean<>((request, response, chain) -> {
                chain.doFilter(request, response);
                if (!request.isAsyncStarted()) {
                    seen.statuses.add(((HttpServletResponse) response).getStatus());
                }
            });
            statuses.setOrder(Ordered.HIGHEST_PRECEDENCE);
            statuses.setAsyncSupported(true);
            statuses.setDispatcherTypes(DispatcherType.REQUEST, DispatcherType.ASYNC);
            return statuses;
        }
    }
}
