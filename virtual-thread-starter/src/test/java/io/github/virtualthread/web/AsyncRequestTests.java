package io.github.virtualthread.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.execution.VirtualThreads;
import java.net.http.HttpResponse;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Requests that Spring MVC answers asynchronously, under the limit of its executor. */
@Timeout(300)
class AsyncRequestTests {

    private final WebApplicationContextRunner runner = DoorApplication.RUNNER
            .withConfiguration(AutoConfigurations.of(VirtualThreadAsyncAutoConfiguration.class))
            .withBean(Names.class)
            .withPropertyValues(
                    "virtual-thread.web.limit=none",
                    "virtual-thread.limits.common.permits=1",
                    "virtual-thread.limits.common.queue-capacity=0",
                    "virtual-thread.async.executors.applicationTaskExecutor=common");

    @Test
    void theyRunUnderTheLimit() {
        runner.run(context ->
                assertThat(new DoorApplication(context).get("/name").body()).startsWith("vt-applicationTaskExecutor-"));
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

            HttpResponse<String> answer = new DoorApplication(context).get("/name");

            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(answer.headers().firstValue("Retry-After")).hasValue("1");
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
