package com.acme.shop.spring7;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.acme.shop.HeldPermit;
import com.acme.shop.ShopTest;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;

@ShopTest
@Import({RetryableTests.Partner.class, RetryableTests.Attempts.class})
class RetryableTests {

    @Autowired
    Partner partner;

    @Autowired
    Attempts attempts;

    @Autowired
    TaskLimits limits;

    @Autowired
    VirtualThreads threads;

    @BeforeEach
    void empty() {
        attempts.threads.clear();
    }

    @Test
    void allAttemptsRunOnOneVirtualThread() throws Exception {
        Thread last = partner.thirdTime().get(120, SECONDS);

        assertThat(last.isVirtual()).isTrue();
        assertThat(attempts.threads).containsExactly(last, last, last);
    }

    @Test
    void theLastFailureComesThroughTheFutureAsItIs() throws Exception {
        assertThat(partner.never())
                .failsWithin(120, SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(IOException.class)
                .withMessage("no answer");
        assertThat(attempts.threads).hasSize(3);
    }

    /** To Spring a method that returns has succeeded. */
    @Test
    void aReturnedFutureThatHasFailedIsNotRetried() {
        assertThat(partner.failedFuture()).failsWithin(120, SECONDS);

        assertThat(attempts.threads).hasSize(1);
    }

    @Test
    void theBackOffHoldsThePermit() throws Exception {
        CompletableFuture<Thread> first = partner.nextMinute();
        await().atMost(120, SECONDS)
                .until(() -> !attempts.threads.isEmpty()
                        && attempts.threads.get(0).getState() == Thread.State.TIMED_WAITING);

        CompletableFuture<Thread> second = partner.thirdTime();
        assertThat(limits.get("one").waiting()).isOne();
        assertThat(second).isNotDone();
        assertThat(attempts.threads).hasSize(1);

        first.cancel(true); // interrupts the back-off
        assertThat(second).succeedsWithin(120, SECONDS);
    }

    @Test
    void theTimeoutCoversAllAttempts() throws Exception {
        assertThat(partner.inTime())
                .failsWithin(120, SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(TimeoutException.class);
        // the future does not wait for the body, which is interrupted in its back-off
        assertThat(threads.awaitIdle(Duration.ofMinutes(2))).isTrue();
        assertThat(attempts.threads).as("no second attempt").hasSizeLessThan(2);
    }

    @Test
    void aRejectionIsNotRetried() throws Exception {
        try (HeldPermit permit = HeldPermit.of(threads, "full")) {
            assertThat(partner.busy())
                    .failsWithin(120, SECONDS)
                    .withThrowableThat()
                    .havingCause()
                    .isInstanceOf(LimitExceededException.class);
        }
        assertThat(attempts.threads).isEmpty();
    }

    @TestConfiguration
    @EnableResilientMethods
    static class Resilience {}

    static class Attempts {

        final List<Thread> threads = new CopyOnWriteArrayList<>();

        int next() {
            threads.add(Thread.currentThread());
            return (int) threads.stream().filter(Thread.currentThread()::equals).count();
        }
    }

    static class Partner {

        private final Attempts attempts;

        Partner(Attempts attempts) {
            this.attempts = attempts;
        }

        @VirtualThread("one")
        @Retryable(maxRetries = 2, delay = 1)
        public CompletableFuture<Thread> thirdTime() throws IOException {
            if (attempts.next() < 3) {
                throw new IOException("no answer");
            }
            return completedFuture(Thread.currentThread());
        }

        @VirtualThread("one")
        @Retryable(maxRetries = 2, delay = 1)
        public CompletableFuture<Thread> never() throws IOException {
            attempts.next();
            throw new IOException("no answer");
        }

        @VirtualThread("one")
        @Retryable(maxRetries = 2, delay = 1)
        public CompletableFuture<Thread> failedFuture() {
            attempts.next();
            return CompletableFuture.failedFuture(new IOException("no answer"));
        }

        @VirtualThread("one")
        @Retryable(maxRetries = 2, delay = 60_000)
        public CompletableFuture<Thread> nextMinute() throws IOException {
            attempts.next();
            throw new IOException("no answer");
        }

        @VirtualThread(limit = "one", timeout = "50ms")
        @Retryable(maxRetries = 2, delay = 60_000)
        public CompletableFuture<Thread> inTime() throws IOException {
            attempts.next();
            throw new IOException("no answer");
        }

        @VirtualThread("full")
        @Retryable(maxRetries = 2, delay = 1)
        public CompletableFuture<Thread> busy() {
            attempts.next();
            return completedFuture(Thread.currentThread());
        }
    }
}
