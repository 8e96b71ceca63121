package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.resilience4j.circuitbreaker.annotation.CircuitBreaker;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Import;

/** One bean has the thread and the advice, the other one the permit: so the advice is outside of the permit. */
@ShopTest
@Import({TwoBeansTests.Reviews.class, TwoBeansTests.Partner.class})
class TwoBeansTests {

    @Autowired
    Reviews reviews;

    @Autowired
    VirtualThreads threads;

    @Test
    void aHitWaitsForNoPermit() throws Exception {
        String review = reviews.cached(1).get(120, SECONDS);
        assertThat(review).startsWith("vt-Reviews.cached-");

        try (HeldPermit permit = HeldPermit.of(threads, "one")) {
            assertThat(reviews.cached(1)).succeedsWithin(120, SECONDS).isEqualTo(review);
        }
    }

    @Test
    void aSynchronizedCacheOfAMethodWithoutAFutureLeavesTheBodyOnTheVirtualThread() throws Exception {
        String review = reviews.once(1).get(120, SECONDS);

        assertThat(review).startsWith("vt-Reviews.once-");
        assertThat(reviews.once(1)).succeedsWithin(120, SECONDS).isEqualTo(review);
    }

    @Test
    void theFallbackSeesOurRejection() throws Exception {
        try (HeldPermit permit = HeldPermit.of(threads, "full")) {
            assertThat(reviews.guarded(1))
                    .succeedsWithin(120, SECONDS)
                    .asString()
                    .startsWith("none: Partner.reviewOrNot was rejected (QUEUE_FULL)");
        }
        assertThat(reviews.guarded(1)).succeedsWithin(120, SECONDS).asString().startsWith("vt-Reviews.guarded-");
    }

    @TestConfiguration
    @EnableCaching
    static class Caching {}

    static class Reviews {

        private final Partner partner;

        Reviews(Partner partner) {
            this.partner = partner;
        }

        @VirtualThread("none")
        @Cacheable("reviews")
        public CompletableFuture<String> cached(long id) {
            return completedFuture(partner.review(id));
        }

        @VirtualThread("none")
        public CompletableFuture<String> once(long id) {
            return completedFuture(partner.reviewOnce(id));
        }

        @VirtualThread("none")
        @CircuitBreaker(name = "reviews", fallbackMethod = "none")
        public CompletableFuture<String> guarded(long id) {
            return completedFuture(partner.reviewOrNot(id));
        }

        CompletableFuture<String> none(long id, Exception failure) {
            return completedFuture("none: " + failure.getMessage());
        }
    }

    static class Partner {

        @Limited("one")
        public String review(long id) {
            return Thread.currentThread().getName();
        }

        @Cacheable(cacheNames = "once", sync = true)
        public String reviewOnce(long id) {
            return Thread.currentThread().getName();
        }

        @Limited("full")
        public String reviewOrNot(long id) {
            return Thread.currentThread().getName();
        }
    }
}
