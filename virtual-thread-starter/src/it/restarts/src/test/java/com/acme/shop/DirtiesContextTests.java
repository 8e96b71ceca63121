package com.acme.shop;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.annotation.DirtiesContext.ClassMode;

/** What one test leaves behind in its context does not reach the next. */
@Timeout(300)
@SpringBootTest
@DirtiesContext(classMode = ClassMode.AFTER_EACH_TEST_METHOD)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class DirtiesContextTests {

    private static CompletableFuture<String> running;
    private static CompletableFuture<String> waiting;

    @Autowired
    Prices prices;

    @Autowired
    TaskLimits limits;

    @Test
    @Order(1)
    void aTestLeavesCallsBehindAndAChangedLimit() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        running = prices.hold(begun, new CountDownLatch(1));
        waiting = prices.ofTea();
        limits.get("one").setQueueCapacity(7);

        assertThat(begun.await(120, SECONDS)).isTrue();
        assertThat(limits.get("one").waiting()).isEqualTo(1);
    }

    @Test
    @Order(2)
    void theNextOneFindsItsOwn() {
        assertThat(running).failsWithin(120, SECONDS);
        assertThat(running.isCancelled()).isTrue();
        assertThat(waiting)
                .failsWithin(120, SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOfSatisfying(LimitExceededException.class, rejection -> assertThat(rejection.reason())
                        .isEqualTo(Reason.SHUTDOWN));

        assertThat(limits.get("one").available()).isEqualTo(1);
        assertThat(limits.get("one").waiting()).isZero();
        assertThat(limits.get("one").queueCapacity()).isEqualTo(Integer.MAX_VALUE);
        assertThat(prices.ofTea()).succeedsWithin(120, SECONDS).isEqualTo("7 EUR");
    }
}
