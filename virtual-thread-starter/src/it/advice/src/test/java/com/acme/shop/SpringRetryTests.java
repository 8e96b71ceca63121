package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.Retryable;

/** The library spring-retry, which Spring 6 has in place of annotations of its own. */
@ShopTest
@Import(SpringRetryTests.Partner.class)
class SpringRetryTests {

    @Autowired
    Partner partner;

    @Test
    void allAttemptsRunOnOneVirtualThread() throws Exception {
        List<Thread> attempts = partner.review(new ArrayList<>()).get(120, SECONDS);

        assertThat(attempts).hasSize(3);
        assertThat(attempts.get(0).isVirtual()).isTrue();
        assertThat(attempts).containsOnly(attempts.get(0));
    }

    @Test
    void aReturnedFutureThatHasFailedIsNotRetried() {
        List<Thread> attempts = new ArrayList<>();

        assertThat(partner.failed(attempts)).failsWithin(120, SECONDS);

        assertThat(attempts).hasSize(1);
    }

    @TestConfiguration
    @EnableRetry
    static class Retries {}

    static class Partner {

        @VirtualThread("one")
        @Retryable(maxAttempts = 3, backoff = @Backoff(delay = 1))
        public CompletableFuture<List<Thread>> review(List<Thread> attempts) throws IOException {
            attempts.add(Thread.currentThread());
            if (attempts.size() < 3) {
                throw new IOException("no answer");
            }
            return completedFuture(attempts);
        }

        @VirtualThread("one")
        @Retryable(maxAttempts = 3, backoff = @Backoff(delay = 1))
        public CompletableFuture<Void> failed(List<Thread> attempts) {
            attempts.add(Thread.currentThread());
            return CompletableFuture.failedFuture(new IOException("no answer"));
        }
    }
}
