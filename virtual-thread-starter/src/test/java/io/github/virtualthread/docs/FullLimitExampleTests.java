package io.github.virtualthread.docs;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Shop.Prices;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import java.util.concurrent.CountDownLatch;
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
    void aSecondCallIsRejected(@Autowired VirtualThreads threads, @Autowired ProductPage page) {
        CountDownLatch gate = new CountDownLatch(1);
        threads.submit("db", () -> gate.await(1, MINUTES));

        assertThat(page.price(1))
                .failsWithin(1, MINUTES)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(LimitExceededException.class);
        gate.countDown();
    }
    // end

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import({ProductPage.class, Prices.class})
    static class Application {}
}
