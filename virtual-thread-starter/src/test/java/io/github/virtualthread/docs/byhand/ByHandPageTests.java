package io.github.virtualthread.docs.byhand;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Shop.Order;
import io.github.virtualthread.docs.Shop.Prices;
import io.github.virtualthread.execution.VirtualThreads;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.test.util.AopTestUtils;

/** The examples of by-hand.md do what the page says. */
@Timeout(300)
class ByHandPageTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=2")
            .withBean(Prices.class)
            .withBean(ByHand.class);

    @Test
    void theExamplesRun() {
        runner.run(context -> {
            ByHand page = context.getBean(ByHand.class);
            Prices prices = context.getBean(Prices.class);

            assertThat(page.later(1)).succeedsWithin(Duration.ofMinutes(2)).isEqualTo(prices.find(1));
            assertThat(page.now(2)).isEqualTo(prices.find(2));
            assertThat(prices.calledOn).isSameAs(Thread.currentThread());
            assertThat(page.pricesOf(List.of(3L, 4L))).containsExactly(prices.find(3), prices.find(4));
            assertThat(page.fastest(
                            () -> {
                                throw new IOException("down");
                            },
                            () -> prices.find(5)))
                    .isEqualTo(prices.find(5));
            assertThat(page.page(6).join().stock()).isEqualTo(40);
        });
    }

    @Test
    void theFirstFailureIsThrownAsItIs() {
        IOException down = new IOException("down");
        runner.run(context -> assertThatThrownBy(
                        () -> context.getBean(VirtualThreads.class).all(List.of(() -> "up", () -> {
                            throw down;
                        })))
                .isSameAs(down));
    }

    @Test
    void anAsyncMethodRunsOnAVirtualThreadAndATestCanWaitForIt() {
        runner.withConfiguration(AutoConfigurations.of(VirtualThreadAsyncAutoConfiguration.class))
                .withPropertyValues("virtual-thread.async.limit=db")
                .withUserConfiguration(WithAsync.class)
                .withBean(ByHand.Mailer.class)
                .run(context -> {
                    ByHand.Mailer mailer = context.getBean(ByHand.Mailer.class);
                    // example: ByHandIdle
                    mailer.send(new Order("bob"));

                    assertThat(context.getBean(VirtualThreads.class).awaitIdle(Duration.ofMinutes(2)))
                            .isTrue();
                    // end
                    assertThat(((ByHand.Mailer) AopTestUtils.getTargetObject(mailer)).calledOn.isVirtual())
                            .isTrue();
                });
    }

    @Test
    void anExecutorOfALimitCanBeABean() {
        runner.withUserConfiguration(ShopExecutors.class)
                .run(context -> assertThat(context.getBean("dbExecutor", AsyncTaskExecutor.class)
                                .submitCompletable(() -> Thread.currentThread().isVirtual()))
                        .succeedsWithin(Duration.ofMinutes(2))
                        .isEqualTo(true));
    }

    @EnableAsync
    static class WithAsync {}
}
