package io.github.virtualthread.docs.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.docs.Shop.Booking;
import io.github.virtualthread.docs.Shop.Customer;
import io.github.virtualthread.docs.Shop.Price;
import io.github.virtualthread.docs.Shop.Prices;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.KeyWeight;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What sharing.md shows is so. */
@Timeout(300)
class SharingPagesTests {

    private static final Duration MINUTES = Duration.ofMinutes(2);

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.partner.permits=2", "virtual-thread.limits.db.permits=20")
            .withBean(Prices.class)
            .withBean(TenantPrices.class)
            .withBean(TenantPricesByHand.class);

    @Test
    void theExampleOfKeysRuns() {
        runner.run(context -> {
            TenantPrices prices = context.getBean(TenantPrices.class);
            TaskLimit partner = context.getBean(TaskLimits.class).get("partner");
            CompletableFuture<Price> price;
            CompletableFuture<Price> byHand;
            try (Occupation occupied = partner.occupy()) {
                price = prices.price("acme", 1);
                byHand = context.getBean(TenantPricesByHand.class).price("acme", 2);

                assertThat(partner.busiestKeys(10)).containsExactly(new KeyUse("acme", 0, 2));
            }
            assertThat(price).succeedsWithin(MINUTES);
            assertThat(byHand).succeedsWithin(MINUTES);
            assertThat(prices.confirm(new Booking(3, new Customer("bob"))).amount())
                    .isEqualTo(BigDecimal.valueOf(3));
        });
    }

    @Test
    void keysHaveTheWeightsOfPropertiesAndOfABean() {
        runner.withBean(KeyWeight.class, () -> (limit, key) -> key.equals("acme") ? 5 : 1)
                .withPropertyValues(
                        "virtual-thread.limits.partner.queue-capacity-per-key=50",
                        "virtual-thread.limits.partner.key-weights.gold=3",
                        "virtual-thread.limits.partner.key-weights.batch=0.1")
                .run(context -> {
                    TaskLimit partner = context.getBean(TaskLimits.class).get("partner");

                    assertThat(partner.weight("acme")).isEqualTo(5);
                    assertThat(partner.weight("bob")).isEqualTo(1);
                    assertThat(partner.weight("batch")).isEqualTo(0.1);
                    assertThat(context.getBean(TaskLimits.class).get("db").weight("acme"))
                            .as("of every limit")
                            .isEqualTo(5);
                });
    }

    @Test
    void aKeyAtItsMaximumWaitsWhilePermitsAreFree() {
        runner.withPropertyValues(
                        "virtual-thread.limits.partner.permits-per-key=1",
                        "virtual-thread.limits.partner.queue-capacity-per-key=1")
                .withBean(Keyed.class)
                .run(context -> {
                    Keyed keyed = context.getBean(Keyed.class);
                    TaskLimit partner = context.getBean(TaskLimits.class).get("partner");
                    CompletableFuture<String> gate = new CompletableFuture<>();
                    keyed.byName("acme", gate);
                    keyed.byName("acme", gate);

                    assertThat(partner.available()).isOne();
                    assertThat(partner.waiting()).isOne();
                    assertThatThrownBy(() -> keyed.byName("acme", gate).join())
                            .hasCauseInstanceOf(LimitExceededException.class)
                            .hasMessageContaining("KEY_QUEUE_FULL");
                    assertThat(keyed.byName("bob", CompletableFuture.completedFuture("done")))
                            .succeedsWithin(MINUTES);
                    gate.complete("done");
                });
    }

    @Test
    void eachExpressionOfThePageIsAKey() {
        Pages.assertRows(
                "docs/sharing.md",
                Pattern.compile("^\\| `([^`]*#[^`]*)` \\|"),
                row -> "| `%s` | ... |".formatted(row.group(1)),
                Stream.of(Keyed.class.getDeclaredMethods())
                        .map(method -> method.getAnnotation(VirtualThread.class))
                        .filter(Objects::nonNull)
                        .map(VirtualThread::key)
                        .filter(key -> !key.equals("#number"))
                        .map("| `%s` | ... |"::formatted)
                        .toList());
        runner.withBean(Keyed.class).run(context -> {
            Keyed keyed = context.getBean(Keyed.class);
            TaskLimit partner = context.getBean(TaskLimits.class).get("partner");
            CompletableFuture<String> gate = new CompletableFuture<>();
            try (Occupation occupied = partner.occupy()) {
                keyed.byName("name", gate);
                keyed.byPosition("position", gate);
                keyed.byProperty(new Booking(1, new Customer("property")), gate);
                keyed.byMethod(gate);
                keyed.orElse(null, gate);
                keyed.byName("1", gate);
                keyed.byNumber(1, gate);

                assertThat(partner.busiestKeys(10))
                        .containsExactlyInAnyOrder(
                                new KeyUse("name", 0, 1),
                                new KeyUse("position", 0, 1),
                                new KeyUse("property", 0, 1),
                                new KeyUse("byMethod", 0, 1),
                                new KeyUse("anonymous", 0, 1),
                                new KeyUse("1", 0, 2));
            }
            gate.complete("done");
        });
    }

    @Test
    void theMessageOfAKeyThatIsNullIsOnThePage() {
        runner.run(context -> assertThatThrownBy(() ->
                        context.getBean(TenantPrices.class).price(none(), 1).join())
                .isInstanceOf(CompletionException.class)
                .satisfies(failure -> assertThat(String.valueOf(failure.getCause())
                                .replace("io.github.virtualthread.docs.sharing.", "com.acme."))
                        .isEqualTo(Pages.block("docs/sharing.md", "message", "null-key"))));
    }

    /** What NullAway would not allow as an argument. */
    @SuppressWarnings("NullAway")
    private static String none() {
        return Optional.<String>empty().orElse(null);
    }

    @Test
    void aServiceAndItsRepositoryTakeOnePermit() {
        runner.withBean(Billing.class).withBean(Invoices.class).run(context -> assertThat(
                        context.getBean(Billing.class).bill(1).amount())
                .isEqualTo(BigDecimal.ONE));
    }

    @Test
    void aLimitWithinAnotherTakesPermitsOfBoth() {
        runner.withPropertyValues(
                        "virtual-thread.limits.report.permits=8",
                        "virtual-thread.limits.report.within=db",
                        "virtual-thread.limits.report.queue-capacity=0")
                .run(context -> {
                    VirtualThreads threads = context.getBean(VirtualThreads.class);
                    TaskLimits limits = context.getBean(TaskLimits.class);

                    assertThat(threads.call(
                                    "report",
                                    () -> limits.get("report").inUse()
                                            + limits.get("db").inUse()))
                            .isEqualTo(2);
                    assertThat(threads.call(
                                    "report",
                                    () -> threads.call(
                                            "db", () -> limits.get("db").inUse())))
                            .isOne();
                    assertThat(threads.call(
                                    "db",
                                    () -> threads.call(
                                            "report", () -> limits.get("db").inUse())))
                            .isOne();
                    try (Occupation occupied = limits.get("db").occupy()) {
                        assertThatThrownBy(() -> threads.call("report", () -> "never"))
                                .hasMessageContaining("limit db around it has 0 of 20");
                        assertThat(limits.get("report").available()).isEqualTo(8);
                    }
                });
        assertThat(Pages.text("docs/sharing.md")).contains("`limit db around it has 0 of 20`");
    }

    /** A method for each expression of the page. */
    static class Keyed {

        @VirtualThread(limit = "partner", key = "#tenant")
        CompletableFuture<String> byName(String tenant, CompletableFuture<String> gate) {
            return gate;
        }

        @VirtualThread(limit = "partner", key = "#number")
        CompletableFuture<String> byNumber(int number, CompletableFuture<String> gate) {
            return gate;
        }

        @VirtualThread(limit = "partner", key = "#p0")
        CompletableFuture<String> byPosition(String tenant, CompletableFuture<String> gate) {
            return gate;
        }

        @VirtualThread(limit = "partner", key = "#booking.customer.id")
        CompletableFuture<String> byProperty(Booking booking, CompletableFuture<String> gate) {
            return gate;
        }

        @VirtualThread(limit = "partner", key = "#root.methodName")
        CompletableFuture<String> byMethod(CompletableFuture<String> gate) {
            return gate;
        }

        @VirtualThread(limit = "partner", key = "#tenant ?: 'anonymous'")
        CompletableFuture<String> orElse(@Nullable String tenant, CompletableFuture<String> gate) {
            return gate;
        }
    }
}
