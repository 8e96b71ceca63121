package io.github.virtualthread.web;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** What docs/web.md says of Tomcat, of calls that a request makes, and of its deadline. */
@Timeout(300)
class DoorClaimsTests {

    @ParameterizedTest
    @CsvSource({"503, true", "429, false"})
    void tomcatClosesTheConnectionAfterA503Only(int status, boolean closes) {
        DoorApplication.run(
                Application.class,
                it -> {
                    try (Occupation full = it.limit().occupy()) {
                        assertThat(it.get("/plain")).satisfies(answer -> {
                            assertThat(answer.statusCode()).isEqualTo(status);
                            assertThat(answer.headers().allValues("Connection").contains("close"))
                                    .isEqualTo(closes);
                        });
                    }
                },
                "limits.web.queue-capacity=0",
                "web.rejected-status=" + status);
    }

    @Test
    void aCallUnderTheLimitOfTheDoorIsNested() {
        DoorApplication.run(
                Application.class,
                it -> {
                    assertThat(it.get("/nested").statusCode()).isEqualTo(503);
                    assertThat(it.bean(Calls.class).ended().poll(2, MINUTES)).isEqualTo("NESTED");
                    it.awaitFree();
                },
                "limits.web.permits=1",
                "limits.web.nested=fail");
    }

    @Test
    @Tag("slow")
    void theDeadlineInterruptsARunningCallAndNotTheRequest() {
        DoorApplication.run(
                Application.class,
                it -> {
                    Calls calls = it.bean(Calls.class);

                    await().atMost(Duration.ofMinutes(2)).until(() -> {
                        assertThat(it.get("/slow").statusCode()).isEqualTo(503);
                        return calls.ended().poll()
                                != null; // on a busy machine the deadline may pass before the call begins
                    });
                    assertThat(it.get("/late").statusCode()).isEqualTo(503);
                    it.awaitFree();
                },
                "web.deadline=1s");
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean
        Calls calls() {
            return new Calls();
        }

        @Bean
        Answers answers(Calls calls) {
            return new Answers(calls);
        }
    }

    static class Calls {

        private final BlockingQueue<String> ended = new LinkedBlockingQueue<>();
        private final CountDownLatch never = new CountDownLatch(1);

        BlockingQueue<String> ended() {
            return ended;
        }

        @VirtualThread("web")
        CompletableFuture<String> nested() {
            return completedFuture("nested");
        }

        @VirtualThread
        CompletableFuture<String> slow() throws InterruptedException {
            try {
                never.await();
            } catch (InterruptedException interrupted) {
                ended.add("interrupted");
                throw interrupted;
            }
            return completedFuture("slow");
        }

        @VirtualThread
        CompletableFuture<String> quick() {
            return completedFuture("quick");
        }
    }

    @RestController
    static class Answers {

        private final Calls calls;

        Answers(Calls calls) {
            this.calls = calls;
        }

        @GetMapping("/plain")
        String plain() {
            return "plain";
        }

        @GetMapping("/nested")
        String nested() {
            return calls.nested()
                    .whenComplete((value, failure) -> calls.ended()
                            .add(
                                    failure instanceof LimitExceededException rejection
                                            ? rejection.reason().toString()
                                            : value))
                    .join();
        }

        @GetMapping("/slow")
        CompletableFuture<String> slow() throws InterruptedException {
            return calls.slow();
        }

        @GetMapping("/late")
        CompletableFuture<String> late() {
            while (!Deadline.remaining().orElseThrow().isZero()) {
                Thread.onSpinWait();
            }
            return calls.quick();
        }
    }
}
