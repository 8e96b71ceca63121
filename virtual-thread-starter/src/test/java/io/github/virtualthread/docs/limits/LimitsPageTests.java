package io.github.virtualthread.docs.limits;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint.ShadowDescriptor;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.limit.TestLease;
import io.github.virtualthread.pool.PoolSizes;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The messages of limits.md, rejections.md and shutdown.md are those of the code, whatever the numbers in them. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class LimitsPageTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues(
                    "virtual-thread.limits.db.permits=1", "virtual-thread.shutdown.await-termination-period=0s")
            .withBean(ProductPage.class);

    private final CompletableFuture<String> gate = new CompletableFuture<>();

    @Test
    void theMessageOfAFullQueueIsOnThePage() {
        runner.withPropertyValues("virtual-thread.limits.db.queue-capacity=0").run(context -> {
            ProductPage page = context.getBean(ProductPage.class);
            page.price(gate);

            assertRefused(page.price(gate), Reason.QUEUE_FULL);
        });
    }

    @Test
    void theLinesOfRejectedCallsAreOnThePage(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.db.queue-capacity=0").run(context -> {
            ProductPage page = context.getBean(ProductPage.class);
            page.price(gate);
            for (int i = 0; i < 3000; i++) {
                page.price(gate);
            }
        });

        assertThat(output.getAll()
                        .lines()
                        .filter(line -> line.contains("has rejected"))
                        .map(line -> withoutNumbers(line.substring(line.indexOf("Limit 'db'")))))
                .containsExactly(
                        withoutNumbers(withMessage(Pages.block("docs/rejections.md", "log", "rejected"))),
                        withoutNumbers(withMessage(Pages.block("docs/rejections.md", "log", "rejections"))));
    }

    @Test
    void theMessageOfALongWaitIsOnThePage() {
        runner.withPropertyValues(
                        "virtual-thread.limits.db.queue-capacity=100", "virtual-thread.limits.db.max-wait=10ms")
                .run(context -> {
                    ProductPage page = context.getBean(ProductPage.class);
                    page.price(gate);

                    assertRefused(page.price(gate), Reason.WAIT_TIMEOUT);
                });
    }

    @Test
    void theMessageOfAFullQueueOfAKeyIsOnThePage() {
        runner.withPropertyValues("virtual-thread.limits.db.queue-capacity-per-key=0")
                .run(context -> {
                    ProductPage page = context.getBean(ProductPage.class);
                    page.priceFor("acme", gate);

                    assertRefused(page.priceFor("acme", gate), Reason.KEY_QUEUE_FULL);
                });
    }

    @Test
    void theMessageOfANestedCallIsOnThePage() {
        runner.withPropertyValues("virtual-thread.limits.db.nested=fail").run(context -> {
            ProductPage page = context.getBean(ProductPage.class);

            CompletableFuture<String> nested =
                    context.getBean(VirtualThreads.class).call("db", () -> page.price(gate));

            assertRefused(nested, Reason.NESTED);
        });
    }

    @Test
    void theMessageOfAHopelessCallIsOnThePage() {
        runner.withPropertyValues("virtual-thread.limits.db.reject-hopeless=true")
                .run(context -> {
                    ProductPage page = context.getBean(ProductPage.class);
                    page.price(gate);

                    assertRefused(Deadline.call(Duration.ofMillis(100), () -> page.price(gate)), Reason.HOPELESS);
                });
    }

    @Test
    void theMessageOfACallWhoseClientHasGoneIsOnThePage() {
        assertRefused(
                CompletableFuture.failedFuture(
                        new LimitExceededException("ProductPage.price", null, Reason.CLIENT_GONE)),
                Reason.CLIENT_GONE);
    }

    @Test
    void theMessageOfAnEvictionIsOnThePage() {
        runner.run(context -> {
            ProductPage page = context.getBean(ProductPage.class);
            page.price(gate);
            CompletableFuture<String> waiting = page.price(gate);

            assertThat(context.getBean(TaskLimits.class).evictWaiting("db")).isOne();

            assertRefused(waiting, Reason.EVICTED);
        });
    }

    @Test
    void theMessageOfACallWithoutALeaseIsOnThePage() {
        try (TaskTimer timer = new TaskTimer("timer")) {
            TaskLimit db = new TaskLimits(
                            List.of(LimitSettings.of("db", 20).withClusterPermits(20)), timer, change -> {})
                    .get("db");
            new TestLease(db).lose(Duration.ofSeconds(12));

            assertRefused(
                    CompletableFuture.failedFuture(
                            new LimitExceededException("ProductPage.price", db, Reason.NO_LEASE)),
                    Reason.NO_LEASE);
        }
    }

    @Test
    void everyReasonIsOnThePage() {
        assertThat(Reason.values()).allSatisfy(reason -> assertThat(Pages.text("docs/rejections.md"))
                .contains("| `%s` | ".formatted(reason))
                .contains("<!-- message: %s -->".formatted(reason)));
    }

    @Test
    void theMessageOfAStopIsOnThePage() {
        runner.run(context -> {
            context.getSourceApplicationContext(GenericApplicationContext.class).stop();

            assertRefused(context.getBean(ProductPage.class).price(new CompletableFuture<>()), Reason.SHUTDOWN);
        });
    }

    @Test
    void aCallThatWaitsForAnotherOfItsOwnLimitWaitsForEver() {
        runner.run(context -> {
            ProductPage page = context.getBean(ProductPage.class);
            CompletableFuture<String> outer = page.price(gate);
            CompletableFuture<String> inner = page.price(CompletableFuture.completedFuture("inner"));
            inner.thenAccept(gate::complete);

            assertThat(context.getBean(TaskLimits.class).get("db").waiting()).isEqualTo(1);
            assertThat(outer).isNotDone();
            outer.cancel(true);
            assertThat(inner).succeedsWithin(Duration.ofMinutes(2));
        });
    }

    @Test
    void aTimeoutOfTheCallerTakesAWaitingCallOutOfTheQueue() {
        runner.run(context -> {
            ProductPage page = context.getBean(ProductPage.class);
            TaskLimit db = context.getBean(TaskLimits.class).get("db");
            page.price(gate);

            CompletableFuture<String> waiting = page.price(gate).orTimeout(1, TimeUnit.MILLISECONDS);

            await().atMost(Duration.ofMinutes(2)).until(waiting::isCompletedExceptionally);
            await().atMost(Duration.ofMinutes(2)).until(() -> db.waiting() == 0);
            assertThat(db.available()).isZero();
        });
    }

    @Test
    void theWarningOfLimitsThatExceedTheirPoolIsOnThePage(CapturedOutput output) {
        runner.withPropertyValues(
                        "virtual-thread.limits.db.permits=",
                        "virtual-thread.limits.db.permits-from=permitsSource",
                        "virtual-thread.limits.report.permits-from=permitsSource",
                        "virtual-thread.limits.report.headroom=12")
                .withBean("permitsSource", PermitsSource.class, () -> () -> 20)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains(Pages.block("docs/limits.md", "log", "overdraft").replace("dataSource", "permitsSource"));
    }

    @Test
    void theWarningOfACallInsideATransactionIsOnThePage(CapturedOutput output) {
        runner.withBean("dataSource", DataSource.class, HikariDataSource::new)
                .withBean(PoolSizes.class, () -> pool -> OptionalInt.of(20))
                .withPropertyValues(
                        "virtual-thread.limits.db.permits=", "virtual-thread.limits.db.permits-from=dataSource")
                .run(context -> {
                    TransactionSynchronizationManager.setActualTransactionActive(true);
                    try {
                        context.getBean(ProductPage.class).price(CompletableFuture.completedFuture("price"));
                    } finally {
                        TransactionSynchronizationManager.setActualTransactionActive(false);
                    }
                });

        assertThat(output)
                .contains(Pages.block("docs/limits.md", "log", "transaction").replace("Shop.", "ProductPage."));
    }

    @Test
    void theRowsOfADryRunHaveTheFieldsOfTheEndpoint() {
        String fields = Stream.of(ShadowDescriptor.class.getRecordComponents())
                .map(field -> "`" + field.getName() + "` |")
                .filter(field -> !field.contains("beyond"))
                .collect(joining(" "));

        assertThat(Pages.text("docs/limits.md")).contains("| `dryRun` | " + fields);
    }

    @Test
    void theWarningOfASecondConnectionIsOnThePage(CapturedOutput output) {
        DefaultTransactionStatus inner = new DefaultTransactionStatus(
                "com.acme.Audit.write", null, true, true, false, false, false, "the outer one");
        runner.withBean("dataSource", DataSource.class, HikariDataSource::new)
                .withBean(PoolSizes.class, () -> pool -> OptionalInt.of(20))
                .withPropertyValues(
                        "virtual-thread.limits.db.permits=", "virtual-thread.limits.db.permits-from=dataSource")
                .run(context -> context.getBean(VirtualThreads.class).call("db", () -> {
                    context.getBean(TransactionExecutionListener.class).beforeBegin(inner);
                    return null;
                }));

        assertThat(output).contains(Pages.block("docs/limits.md", "log", "second-connection"));
    }

    @Test
    void theLineOfTheStopIsOnThePage(CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.shutdown.await-termination-period=10ms")
                .run(this::callWhatNeverEnds);

        String line = output.getAll()
                .lines()
                .filter(each -> each.contains("Virtual threads stopped after"))
                .map(each -> each.substring(each.indexOf("Virtual threads stopped")))
                .findFirst()
                .orElseThrow();
        assertThat(withoutNumbers(line)).isEqualTo(withoutNumbers(Pages.block("docs/shutdown.md", "log", "stop")));
    }

    private void callWhatNeverEnds(AssertableApplicationContext context) {
        ProductPage page = context.getBean(ProductPage.class);
        page.price(gate);
        page.price(gate);
        page.unlimited(gate);
    }

    private static void assertRefused(CompletableFuture<String> future, Reason reason) {
        assertThat(future)
                .failsWithin(Duration.ofMinutes(2))
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOfSatisfying(LimitExceededException.class, refusal -> {
                    assertThat(refusal.reason()).isEqualTo(reason);
                    assertThat(withoutNumbers(refusal.getMessage()))
                            .isEqualTo(withoutNumbers(Pages.block("docs/rejections.md", "message", reason.name())));
                });
    }

    private static String withMessage(String line) {
        return line.replace("...", Pages.block("docs/rejections.md", "message", "QUEUE_FULL"));
    }

    private static String withoutNumbers(String text) {
        return Pages.normalized(text.replaceAll("unbounded wait|wait up to \\S+(?=\\))", "any wait")
                .replaceAll("\\d+(,\\d+)*", "N"));
    }

    static class ProductPage {

        @VirtualThread("db")
        CompletableFuture<String> price(CompletableFuture<String> gate) {
            return gate;
        }

        @VirtualThread(limit = "db", key = "#tenant")
        CompletableFuture<String> priceFor(String tenant, CompletableFuture<String> gate) {
            return gate;
        }

        @VirtualThread
        CompletableFuture<String> unlimited(CompletableFuture<String> gate) {
            return gate;
        }
    }
}
