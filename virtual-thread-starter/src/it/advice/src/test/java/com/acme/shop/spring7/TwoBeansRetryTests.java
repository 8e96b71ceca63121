package com.acme.shop.spring7;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.acme.shop.HeldPermit;
import com.acme.shop.ShopTest;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.resilience.retry.MethodRetryEvent;

/** The bean outside has thread and retries, the bean inside the permit. */
@ShopTest
@Import({
    Reviews.class,
    PartnerClient.class,
    TwoBeansRetryTests.Answers.class,
    TwoBeansRetryTests.Stock.class,
    TwoBeansRetryTests.Counter.class,
    TwoBeansRetryTests.Failures.class
})
class TwoBeansRetryTests {

    @Autowired
    Reviews reviews;

    @Autowired
    Answers answers;

    @Autowired
    Stock stock;

    @Autowired
    Failures failures;

    @Autowired
    TaskLimits limits;

    @Autowired
    VirtualThreads threads;

    @Test
    void theBackOffHoldsNoPermit() throws Exception {
        CompletableFuture<String> first = reviews.review(404);
        await().atMost(120, SECONDS)
                .until(() ->
                        answers.missed.get() != null && answers.missed.get().getState() == Thread.State.TIMED_WAITING);

        assertThat(limits.get("partner").available()).isOne();
        assertThat(reviews.review(2)).succeedsWithin(120, SECONDS).isEqualTo("/reviews/2");

        first.cancel(true); // ends the back-off
        // the listener hears of that too, and the next test has the same one
        assertThat(threads.awaitIdle(Duration.ofMinutes(2))).isTrue();
    }

    @Test
    void aRejectionIsRetried() throws Exception {
        HeldPermit permit = HeldPermit.of(threads, "full");
        failures.atFirst.set(permit::close);

        assertThat(stock.count()).succeedsWithin(120, SECONDS).isEqualTo(40);

        assertThat(failures.last.get()).isInstanceOf(LimitExceededException.class);
    }

    @TestConfiguration
    @EnableResilientMethods
    static class Resilience {}

    static class Failures {

        final AtomicReference<Runnable> atFirst = new AtomicReference<>();
        final AtomicReference<Throwable> last = new AtomicReference<>();

        @EventListener
        void failed(MethodRetryEvent event) {
            last.set(event.getFailure());
            Runnable action = atFirst.getAndSet(null);
            if (action != null) {
                action.run();
            }
        }
    }

    static class Answers implements PartnerClient.Http {

        final AtomicReference<Thread> missed = new AtomicReference<>();

        @Override
        public String get(String path) throws IOException {
            if (path.endsWith("404")) {
                missed.set(Thread.currentThread());
                throw new IOException("no answer");
            }
            return path;
        }
    }

    static class Stock {

        private final Counter counter;

        Stock(Counter counter) {
            this.counter = counter;
        }

        @VirtualThread("none")
        @Retryable(maxRetries = 2, delay = 1)
        public CompletableFuture<Integer> count() {
            return completedFuture(counter.count());
        }
    }

    static class Counter {

        @Limited("full")
        public int count() {
            return 40;
        }
    }
}
