package io.github.virtualthread.web;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.Limited;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadDoorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebMvcAutoConfiguration;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableWebApplicationContext;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;

/** {@code @Limited} on what answers web requests, with one permit and no queue. */
@Timeout(300)
class LimitedControllerTests {

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadDoorAutoConfiguration.class,
                    VirtualThreadWebMvcAutoConfiguration.class))
            .withUserConfiguration(WebMvc.class)
            .withBean(ProductController.class)
            .withPropertyValues("virtual-thread.limits.db.permits=1", "virtual-thread.limits.db.queue-capacity=0");

    @Test
    void aRequestIsAnsweredUnderThePermit() {
        runner.run(context -> {
            assertThat(AopUtils.isCglibProxy(context.getBean(ProductController.class)))
                    .isTrue();
            assertThat(get(context)).hasStatusOk().hasBodyTextEqualTo("product 1, 0 permits left");
            assertThat(context.getBean(TaskLimits.class).get("db").available()).isOne();
        });
    }

    @Test
    void aRejectedRequestIsAnsweredByAnAdviceWith503() {
        runner.withBean(Unavailable.class)
                .run(context -> whileThePermitIsHeld(context, () -> {
                    MvcTestResult answer = get(context);

                    assertThat(answer)
                            .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
                            .hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
                            .hasHeader(HttpHeaders.RETRY_AFTER, "1")
                            .failure()
                            .isInstanceOf(LimitExceededException.class);
                    assertThat(answer).bodyJson().isLenientlyEqualTo("""
                                    {"status": 503, "detail": "Too busy, please try again", "limit": "db", "reason": "QUEUE_FULL"}
                                    """);
                }));
    }

    @Test
    void aRejectedRequestIsAnsweredByAnAdviceWith429() {
        runner.withBean(TooManyRequests.class)
                .run(context -> whileThePermitIsHeld(context, () -> assertThat(get(context))
                        .hasStatus(HttpStatus.TOO_MANY_REQUESTS)
                        .hasBodyTextEqualTo("db is busy")));
    }

    @Test
    void withoutAnAdviceARejectedRequestIsAnswered503() {
        runner.run(context -> whileThePermitIsHeld(context, () -> assertThat(get(context))
                .hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
                .hasHeader(HttpHeaders.RETRY_AFTER, "1")
                .hasBodyTextEqualTo("")
                .failure()
                .isInstanceOf(LimitExceededException.class)));
    }

    private static MvcTestResult get(AssertableWebApplicationContext context) {
        return MockMvcTester.from(context).get().uri("/products/1").exchange();
    }

    private static void whileThePermitIsHeld(AssertableWebApplicationContext context, Runnable body) throws Exception {
        CountDownLatch holding = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        CompletableFuture<Void> holder = context.getBean(VirtualThreads.class).submit("db", () -> {
            holding.countDown();
            released.await();
            return null;
        });
        assertThat(holding.await(120, SECONDS)).isTrue();
        try {
            body.run();
        } finally {
            released.countDown();
        }
        assertThat(holder).succeedsWithin(120, SECONDS);

        assertThat(get(context)).hasStatusOk();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableWebMvc
    static class WebMvc {}

    @RestController
    static class ProductController {

        private final TaskLimits limits;

        ProductController(TaskLimits limits) {
            this.limits = limits;
        }

        @Limited("db")
        @GetMapping("/products/{id}")
        String product(@PathVariable long id) {
            return "product %d, %d permits left".formatted(id, limits.get("db").available());
        }
    }

    /** Much as in docs/rejections.md. */
    @RestControllerAdvice
    static class Unavailable {

        @ExceptionHandler
        ResponseEntity<ProblemDetail> busy(LimitExceededException exception) {
            var problem =
                    ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, "Too busy, please try again");
            problem.setProperty("limit", exception.limit());
            problem.setProperty("reason", exception.reason());
            return ResponseEntity.of(problem)
                    .header(HttpHeaders.RETRY_AFTER, "1")
                    .build();
        }
    }

    @RestControllerAdvice
    static class TooManyRequests {

        @ExceptionHandler
        @ResponseStatus(HttpStatus.TOO_MANY_REQUESTS)
        String busy(LimitExceededException exception) {
            return exception.limit() + " is busy";
        }
    }
}
