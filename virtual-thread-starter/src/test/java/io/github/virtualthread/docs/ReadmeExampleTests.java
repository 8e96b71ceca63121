package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Pages.Block;
import io.github.virtualthread.docs.Shop.Price;
import io.github.virtualthread.docs.Shop.Prices;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.PropertySource;

/** The first thing a reader sees does what the README says. */
@Timeout(300)
class ReadmeExampleTests {

    @Test
    void itRunsOnAVirtualThreadUnderTheLimitOfTheYaml() {
        Block yaml = Pages.blocks("yaml")
                .filter(block -> block.where().startsWith("README.md"))
                .findFirst()
                .orElseThrow();
        PropertySource<?> source = Pages.properties(yaml.where(), yaml.text());
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
                .withInitializer(
                        context -> context.getEnvironment().getPropertySources().addFirst(source))
                .withBean(SlowPrices.class)
                .withBean(ProductPage.class)
                .run(context -> {
                    SlowPrices prices = context.getBean(SlowPrices.class);
                    TaskLimit db = context.getBean(TaskLimits.class).get("db");

                    CompletableFuture<Price> price =
                            context.getBean(ProductPage.class).price(7);

                    assertThat(db.permits()).isEqualTo(20);
                    assertThat(db.available()).isEqualTo(19);
                    prices.gate.countDown();
                    assertThat(price).succeedsWithin(Duration.ofMinutes(2));
                    assertThat(prices.calledOn.isVirtual()).isTrue();
                    assertThat(prices.calledOn.getName()).isEqualTo("vt-ProductPage.price-1");
                });
    }

    static class SlowPrices extends Prices {

        private final CountDownLatch gate = new CountDownLatch(1);

        @Override
        public Price find(long id) {
            try {
                gate.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
            return super.find(id);
        }
    }

    @Test
    void itIsTheFirstBlockOfJava() {
        assertThat(Pages.blocks("java").findFirst())
                .hasValueSatisfying(block ->
                        assertThat(block.where() + " " + block.argument()).matches("README.md:\\d+ ProductPage"));
    }
}
