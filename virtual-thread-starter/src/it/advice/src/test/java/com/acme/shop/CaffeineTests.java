package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.cache.caffeine.CaffeineCacheManager;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;

@ShopTest
@Import(CaffeineTests.Prices.class)
class CaffeineTests {

    private static final Duration LONG = Duration.ofMinutes(2);

    @Autowired
    Prices prices;

    @Test
    void withoutItsAsyncModeEachCallFails() {
        assertThat(prices.plain(1))
                .failsWithin(LONG)
                .withThrowableThat()
                .havingRootCause()
                .isInstanceOf(IllegalStateException.class)
                .withMessageStartingWith("No Caffeine AsyncCache available");
    }

    @Test
    void inItsAsyncModeTheValueIsCached() {
        assertThat(prices.async(1)).succeedsWithin(LONG).isEqualTo(1);
        assertThat(prices.async(1)).succeedsWithin(LONG).isEqualTo(1);
    }

    @TestConfiguration
    @EnableCaching
    static class Caching {

        @Bean
        CaffeineCacheManager plain() {
            return new CaffeineCacheManager();
        }

        @Bean
        @Primary
        CaffeineCacheManager async() {
            CaffeineCacheManager caches = new CaffeineCacheManager();
            caches.setAsyncCacheMode(true);
            return caches;
        }
    }

    static class Prices {

        private int calls;

        @VirtualThread
        @Cacheable(cacheNames = "prices", cacheManager = "plain")
        public CompletableFuture<Integer> plain(long id) {
            return completedFuture(7);
        }

        @VirtualThread("one")
        @Cacheable(cacheNames = "prices", cacheManager = "async")
        public CompletableFuture<Integer> async(long id) {
            return completedFuture(++calls);
        }
    }
}
