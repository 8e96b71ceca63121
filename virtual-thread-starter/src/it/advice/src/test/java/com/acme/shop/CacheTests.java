package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.CompletableFuture.failedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import com.acme.shop.CacheTests.Prices.Price;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.cache.CacheManager;
import org.springframework.cache.annotation.CacheEvict;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.context.annotation.Import;

@ShopTest
@Import({CacheTests.Prices.class, CacheTests.Counter.class})
class CacheTests {

    @Autowired
    Prices prices;

    @Autowired
    Counter counter;

    @Autowired
    CacheManager caches;

    @Autowired
    TaskLimits limits;

    @Autowired
    VirtualThreads threads;

    @BeforeEach
    void empty() {
        caches.getCache("prices").clear();
        counter.calls.set(0);
    }

    @Test
    void theValueIsCachedAndNotTheFuture() throws Exception {
        Price first = prices.find(1, 7).get(120, SECONDS);
        Price hit = prices.find(1, 8).get(120, SECONDS);

        assertThat(first.amount()).isEqualTo(7);
        assertThat(first.thread().isVirtual()).isTrue();
        assertThat(hit).isSameAs(first);
        assertThat(counter.calls).hasValue(1);
        assertThat(caches.getCache("prices").get(1L).get()).isSameAs(first);
    }

    @Test
    void aMethodThatDeclaresFutureIsCachedToo() throws Exception {
        Object first = prices.findAsFuture(1).get(120, SECONDS);
        Object hit = prices.findAsFuture(1).get(120, SECONDS);

        assertThat(hit).isSameAs(first);
        assertThat(counter.calls).hasValue(1);
    }

    /** Spring Boot's cache in memory leaves the body to the common pool then. */
    @Test
    void aSynchronizedCacheTakesTheBodyAway() throws Exception {
        Elsewhere body = new Elsewhere();

        body.callAndCancel(prices::findOnce, limits.get("many"));

        assertThat(body.end()).isEqualTo("finished, not virtual, user null");
    }

    @Test
    void aFailureIsNotCachedHoweverItComes() throws Exception {
        assertThat(prices.fail(1, true)).failsWithin(120, SECONDS);
        assertThat(prices.fail(1, false)).failsWithin(120, SECONDS);

        assertThat(counter.calls).hasValue(2);
        assertThat(caches.getCache("prices").get(1L)).isNull();
    }

    @Test
    void anEntryIsEvictedWhenTheBodyHasEnded() throws Exception {
        prices.find(1, 7).get(120, SECONDS);

        prices.change(1).get(120, SECONDS);

        assertThat(caches.getCache("prices").get(1L)).isNull();
    }

    @Test
    void aHitWaitsForAPermit() throws Exception {
        prices.find(1, 7).get(120, SECONDS);
        CompletableFuture<Price> hit;

        try (HeldPermit permit = HeldPermit.of(threads, "one")) {
            hit = prices.find(1, 8);

            assertThat(hit).isNotDone();
            assertThat(limits.get("one").waiting()).isOne();
        }

        assertThat(hit).succeedsWithin(120, SECONDS);
        assertThat(counter.calls).hasValue(1);
    }

    @TestConfiguration
    @EnableCaching
    static class Caching {}

    static class Counter {
        final AtomicInteger calls = new AtomicInteger();
    }

    static class Prices {

        private final Counter counter;

        Prices(Counter counter) {
            this.counter = counter;
        }

        record Price(int amount, Thread thread) {}

        @VirtualThread("one")
        @Cacheable(cacheNames = "prices", key = "#id")
        public CompletableFuture<Price> find(long id, int amount) {
            counter.calls.incrementAndGet();
            return completedFuture(new Price(amount, Thread.currentThread()));
        }

        @VirtualThread
        @Cacheable("prices")
        public Future<Price> findAsFuture(long id) {
            counter.calls.incrementAndGet();
            return completedFuture(new Price(7, Thread.currentThread()));
        }

        @VirtualThread("many")
        @Cacheable(cacheNames = "prices", sync = true)
        public CompletableFuture<String> findOnce(Elsewhere body) {
            return completedFuture(body.run());
        }

        @VirtualThread
        @Cacheable(cacheNames = "prices", key = "#id")
        public CompletableFuture<Price> fail(long id, boolean throwing) {
            counter.calls.incrementAndGet();
            if (throwing) {
                throw new IllegalStateException("no price");
            }
            return failedFuture(new IllegalStateException("no price"));
        }

        @VirtualThread
        @CacheEvict("prices")
        public CompletableFuture<Void> change(long id) {
            return completedFuture(null);
        }
    }
}
