package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebAutoConfiguration;
import io.github.virtualthread.execution.VirtualThreads;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.http.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.DispatcherServletAutoConfiguration;
import org.springframework.boot.autoconfigure.web.servlet.WebMvcAutoConfiguration;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.http.HttpHeaders;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Requests that Spring MVC answers asynchronously, under the limit of its executor. */
@Timeout(300)
class AsyncRequestTests {

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadAsyncAutoConfiguration.class,
                    VirtualThreadWebAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class,
                    DispatcherServletAutoConfiguration.class,
                    HttpMessageConvertersAutoConfiguration.class,
                    WebMvcAutoConfiguration.class))
            .withBean(Names.class)
            .withPropertyValues(
                    "virtual-thread.limits.common.permits=1",
                    "virtual-thread.limits.common.queue-capacity=0",
                    "virtual-thread.async.limit=common");

    @Test
    void theyRunUnderTheLimit() {
        runner.run(context -> assertThat(MockMvcTester.from(context).get().uri("/name"))
                .hasStatusOk()
                .body()
                .asString()
                .startsWith("vt-applicationTaskExecutor-"));
    }

    @Test
    void aFullQueueIsAnswered503() {
        runner.run(context -> {
            CountDownLatch running = new CountDownLatch(1);
            CountDownLatch gate = new CountDownLatch(1);
            CompletableFuture<?> held = context.getBean(VirtualThreads.class).submit("common", () -> {
                running.countDown();
                gate.await();
                return null;
            });
            running.await();

            assertThat(MockMvcTester.from(context).get().uri("/name"))
                    .hasStatus(503)
                    .hasHeader(HttpHeaders.RETRY_AFTER, "1");
            gate.countDown();
            held.join();
        });
    }

    @RestController
    static class Names {

        @GetMapping("/name")
        Callable<String> name() {
            return () -> Thread.currentThread().getName();
        }
    }
}
