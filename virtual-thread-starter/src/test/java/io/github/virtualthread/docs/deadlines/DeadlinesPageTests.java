package io.github.virtualthread.docs.deadlines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.docs.Shop.Order;
import io.github.virtualthread.docs.deadlines.Transfers.Journal;
import io.github.virtualthread.docs.deadlines.Transfers.Partner;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What deadlines.md shows and says is so. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class DeadlinesPageTests {

    private static final Duration MINUTES = Duration.ofMinutes(2);
    private static final Duration SHORT = Duration.ofMillis(1);
    private static final String METHOD =
            "virtual-thread.methods[io.github.virtualthread.docs.deadlines.PartnerReviews.review].deadline";

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues(
                    "virtual-thread.limits.partner.permits=1",
                    "virtual-thread.limits.partner.reject-hopeless=true",
                    "virtual-thread.limits.db.permits=1")
            .withBean(PartnerReviews.class);

    private final CountDownLatch answer = new CountDownLatch(1);
    private HttpServer partner;
    private URI product;

    @BeforeEach
    void startPartner() throws IOException {
        partner = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        partner.createContext("/", exchange -> {
            if (exchange.getRequestURI().getPath().equals("/never")) {
                awaitAnswer();
            }
            exchange.sendResponseHeaders(200, 4);
            exchange.getResponseBody().write("good".getBytes());
            exchange.close();
        });
        partner.start();
        product =
                URI.create("http://localhost:%d/".formatted(partner.getAddress().getPort()));
    }

    @AfterEach
    void stopPartner() {
        answer.countDown();
        partner.stop(0);
    }

    @Test
    void theExampleRuns() {
        runner.withPropertyValues(METHOD + "=2m")
                .run(context -> assertThat(context.getBean(PartnerReviews.class).review(product))
                        .succeedsWithin(MINUTES)
                        .isEqualTo("good"));
    }

    @Test
    void theMessageOfACallThatWaitedTooLongIsOnThePage() {
        runner.withPropertyValues(METHOD + "=10ms", "virtual-thread.limits.partner.reject-hopeless=false")
                .run(context -> {
                    try (Occupation occupied =
                            context.getBean(TaskLimits.class).get("partner").occupy()) {
                        assertThat(context.getBean(PartnerReviews.class).review(product))
                                .failsWithin(MINUTES)
                                .withThrowableOfType(ExecutionException.class)
                                .havingCause()
                                .isInstanceOf(LimitExceededException.class)
                                .withMessage(Pages.block("docs/rejections.md", "message", "DEADLINE"));
                    }
                });
    }

    @Test
    void theLineOfABodyThatRanTooLongIsOnThePage(CapturedOutput output) {
        runner.run(context -> {
            TaskEngine engine = context.getBean(TaskEngine.class);
            TaskSpec review = engine.spec("PartnerReviews.review", "partner", null, Duration.ofMillis(100));
            AtomicReference<Throwable> failure = new AtomicReference<>();
            // on a busy machine the deadline may pass before the body begins
            await().atMost(MINUTES).until(() -> {
                failure.set(failureOf(engine.submit(review, this::neverAnswers)));
                return failure.get() instanceof CallTimeoutException;
            });

            String line = Pages.block("docs/deadlines.md", "log", "timed-out").replace("2s", "0.1s");
            assertThat(line).endsWith(": " + failure.get().getMessage());
            await().atMost(MINUTES).until(() -> output.getAll().contains(line)); // beside the end of the body
        });
    }

    private String neverAnswers() throws InterruptedException {
        answer.await();
        return "never";
    }

    private static Throwable failureOf(CompletableFuture<?> call) {
        return call.handle((value, failure) -> failure).join();
    }

    @Tag("slow")
    @Test
    void theClientOfTheExampleGivesUpAtTheDeadline() {
        runner.withPropertyValues(METHOD + "=1s").run(context -> assertThat(
                        failureOf(context.getBean(PartnerReviews.class).review(product.resolve("/never"))))
                .isInstanceOfAny(CallTimeoutException.class, HttpTimeoutException.class, LimitExceededException.class));
    }

    @Test
    void theJournalIsWrittenAfterTheDeadline() {
        List<Order> written = new ArrayList<>();
        runner.withBean(Partner.class, () -> order -> awaitDeadline())
                .withBean(Journal.class, () -> written::add)
                .withBean(Transfers.class)
                .withPropertyValues(
                        "virtual-thread.methods[io.github.virtualthread.docs.deadlines.Transfers.transfer].deadline=10ms")
                .run(context -> {
                    Order order = new Order("bob");

                    context.getBean(Transfers.class).transfer(order);

                    assertThat(written).containsExactly(order);
                    assertThatThrownBy(() -> Deadline.call(SHORT, () -> {
                                awaitDeadline();
                                return context.getBean(Journal.class).write(order);
                            }))
                            .isInstanceOf(LimitExceededException.class);
                });
    }

    private static void awaitDeadline() {
        while (Deadline.remaining().orElseThrow().isPositive()) {
            Thread.onSpinWait();
        }
    }

    private void awaitAnswer() {
        try {
            answer.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
