package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.resilience4j.bulkhead.BulkheadFullException;
import io.github.resilience4j.bulkhead.annotation.Bulkhead;
import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.circuitbreaker.annotation.CircuitBreaker;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;

@ShopTest
@Import(Resilience4jTests.Partner.class)
@TestPropertySource(
        properties = {
            "resilience4j.circuitbreaker.instances.partner.sliding-window-size=2",
            "resilience4j.circuitbreaker.instances.partner.minimum-number-of-calls=2",
            "resilience4j.circuitbreaker.instances.partner.wait-duration-in-open-state=1h",
            "resilience4j.bulkhead.instances.partner.max-concurrent-calls=2"
        })
class Resilience4jTests {

    @Autowired
    Partner partner;

    @Autowired
    CircuitBreakerRegistry breakers;

    @Autowired
    TaskLimits limits;

    @Autowired
    VirtualThreads threads;

    @BeforeEach
    void close() {
        breakers.circuitBreaker("partner").reset();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void failuresOpenTheCircuitHoweverTheyCome(boolean throwing) throws Exception {
        assertThat(partner.review(throwing)).failsWithin(120, SECONDS);
        assertThat(partner.review(throwing)).failsWithin(120, SECONDS);

        assertThat(partner.review(throwing))
                .failsWithin(120, SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(CallNotPermittedException.class);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void theFailureComesThroughTheFuture(boolean throwing) throws Exception {
        assertThat(partner.review(throwing))
                .failsWithin(120, SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(IOException.class)
                .withMessage("no answer");
    }

    @Test
    void theFallbackRunsOnTheVirtualThread() throws Exception {
        String name = partner.reviewOrElse().get(120, SECONDS);

        assertThat(name).startsWith("vt-Partner.reviewOrElse-").endsWith(": no answer");
    }

    @Test
    void theFallbackDoesNotSeeOurRejection() throws Exception {
        try (HeldPermit permit = HeldPermit.of(threads, "full")) {
            assertThat(partner.reviewOrElse())
                    .failsWithin(120, SECONDS)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(LimitExceededException.class);
        }
        assertThat(breakers.circuitBreaker("partner").getMetrics().getNumberOfFailedCalls())
                .isZero();
    }

    @Test
    void aCallWaitsForAPermitAlsoWhenTheCircuitIsOpen() throws Exception {
        breakers.circuitBreaker("partner").transitionToOpenState();
        CompletableFuture<String> review;
        try (HeldPermit permit = HeldPermit.of(threads, "one")) {
            review = partner.review(true);

            assertThat(review).isNotDone();
            assertThat(limits.get("one").waiting()).isOne();
        }
        assertThat(review)
                .failsWithin(120, SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(CallNotPermittedException.class);
    }

    @Test
    void theBulkheadLetsTwoBodiesInAndRefusesTheThird() throws Exception {
        CountDownLatch begun = new CountDownLatch(2);
        CountDownLatch finish = new CountDownLatch(1);
        CompletableFuture<Thread> first = partner.stock(begun, finish);
        CompletableFuture<Thread> second = partner.stock(begun, finish);
        assertThat(begun.await(120, SECONDS)).isTrue();

        assertThat(partner.stock(begun, finish))
                .failsWithin(120, SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(BulkheadFullException.class);

        finish.countDown();
        assertThat(first).succeedsWithin(120, SECONDS).matches(Thread::isVirtual);
        assertThat(second).succeedsWithin(120, SECONDS).matches(Thread::isVirtual);
    }

    @Test
    void aBulkheadOfTypeThreadPoolTakesTheBodyAway() throws Exception {
        Elsewhere body = new Elsewhere();

        body.callAndCancel(partner::pooled, limits.get("many"));

        assertThat(body.end()).isEqualTo("finished, not virtual, user null");
    }

    static class Partner {

        @VirtualThread("one")
        @CircuitBreaker(name = "partner")
        public CompletableFuture<String> review(boolean throwing) throws IOException {
            IOException failure = new IOException("no answer");
            if (throwing) {
                throw failure;
            }
            return CompletableFuture.failedFuture(failure);
        }

        @VirtualThread("full")
        @CircuitBreaker(name = "partner", fallbackMethod = "noReview")
        public CompletableFuture<String> reviewOrElse() throws IOException {
            throw new IOException("no answer");
        }

        CompletableFuture<String> noReview(Throwable failure) {
            return completedFuture(Thread.currentThread().getName() + ": " + failure.getMessage());
        }

        @VirtualThread("many")
        @Bulkhead(name = "partner")
        public CompletableFuture<Thread> stock(CountDownLatch begun, CountDownLatch finish)
                throws InterruptedException {
            begun.countDown();
            finish.await(120, SECONDS);
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread("many")
        @Bulkhead(name = "pooled", type = Bulkhead.Type.THREADPOOL)
        public CompletableFuture<String> pooled(Elsewhere body) {
            return completedFuture(body.run());
        }
    }
}
