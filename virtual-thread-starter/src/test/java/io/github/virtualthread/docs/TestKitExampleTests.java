package io.github.virtualthread.docs;

import static io.github.virtualthread.test.LimitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Shop.Price;
import io.github.virtualthread.docs.Shop.Prices;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.test.ConcurrentCalls;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

@Timeout(300)
@SpringBootTest(properties = {"virtual-thread.limits.db.permits=1", "virtual-thread.limits.db.queue-capacity=3"})
class TestKitExampleTests {

    @Autowired
    StubPrices prices;

    @BeforeEach
    void forgetCalls() {
        prices.ids.clear();
    }

    // example: FullQueue
    @Test
    void theFourthCallThatWaitsIsRejected(@Autowired TaskLimits limits, @Autowired ProductPage page) {
        TaskLimit db = limits.get("db");
        try (Occupation full = db.occupy()) {
            page.price(1);
            page.price(2);
            page.price(3);
            assertThat(db).hasAvailable(0).hasWaiting(3);

            assertThat(page.price(4)).isCompletedExceptionally();
        }
        assertThat(db).becomesIdleWithin(Duration.ofMinutes(1));
    }
    // end

    @Test
    void callsRunInTheirOrder(@Autowired TaskLimits limits, @Autowired ProductPage page) {
        try (Occupation full = limits.get("db").occupy()) {
            page.price(3);
            page.price(1);
            page.price(2);
        }
        assertThat(limits.get("db")).becomesIdleWithin(Duration.ofMinutes(1));

        assertThat(prices.ids).containsExactly(3L, 1L, 2L);
    }

    // example: NeverExceeded
    @Test
    void theDatabaseNeverGetsMoreCallsThanTheLimitAllows(@Autowired TaskLimits limits, @Autowired ProductPage page) {
        Stream.of(1L, 2L, 3L).map(page::price).toList().forEach(CompletableFuture::join);

        assertThat(limits.get("db")).isIdle().wasNeverExceededBy(prices.calls);
    }
    // end

    // example: StubPrices
    static class StubPrices extends Prices {

        final ConcurrentCalls calls = new ConcurrentCalls();
        final List<Long> ids = new CopyOnWriteArrayList<>();

        @Override
        public Price find(long id) {
            try (var inside = calls.enter()) {
                ids.add(id);
                return super.find(id);
            }
        }
    }
    // end

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import({ProductPage.class, StubPrices.class})
    static class Application {}
}
