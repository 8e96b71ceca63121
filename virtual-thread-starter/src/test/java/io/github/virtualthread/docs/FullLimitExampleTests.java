package io.github.virtualthread.docs;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Shop.Prices;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@Timeout(300)
@SpringBootTest(properties = {"virtual-thread.limits.db.permits=1", "virtual-thread.limits.db.queue-capacity=0"})
class FullLimitExampleTests {

    // example: FullLimit
    @Test
    void aCallIsRejectedWhileTheLimitIsFull(@Autowired TaskLimits limits, @Autowired ProductPage page) {
        try (Occupation full = limits.get("db").occupy()) {
            assertThat(page.price(1))
                    .failsWithin(1, MINUTES)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(LimitExceededException.class)
                    .withMessageContaining("QUEUE_FULL");
        }
        assertThat(page.price(1)).succeedsWithin(1, MINUTES);
    }
    // end

    @Test
    void thereIsNoPriceWhileTheLimitIsFull(@Autowired TaskLimits limits, @Autowired PriceOrNothing page) {
        try (Occupation full = limits.get("db").occupy()) {
            assertThat(page.price(1)).isCompletedWithValue(Optional.empty());
        }
        assertThat(page.price(1).join()).isPresent();
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import({ProductPage.class, PriceOrNothing.class, Prices.class})
    static class Application {}
}
