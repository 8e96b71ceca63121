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
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.resilience.retry.MethodRetryEvent;
import org.springframework.stereotype.Component;
import org.springframework.stereotype.Service;

/** The bean outside has thread and retries, the bean inside the permit. */
@ShopTest
@Import({
    TwoBeansRetryTests.Reviews.class,
    TwoBeansRetryTests.Partner.class,
    TwoBeansRetryTests.Http.class,
    TwoBeansRetryTests.Failures.class
})
class TwoBeansRetryTests {

    @Autowired
    Reviews reviews;

    @Autowired
    Http http;

    @Autowired
    Failures failures;

    @Autowired
    TaskLimits limits;

    @Autowired
    VirtualThreads threads;

    @Test
    void theBackOffHoldsNoPermit() throws Exception {
        http.answers.put(1L, "no answer");
        CompletableFuture<String> first = reviews.patient(1);
        await().until(() ->
                http.callers.containsKey(1L) && http.callers.get(1L).getState() == Thread.State.TIMED_WAITING);

        assertThat(limits.get("one").available()).isOne();
        assertThat(reviews.patient(2)).succeedsWithin(10, SECONDS).isEqualTo("review of 2");

        first.cancel(true); // ends the back-off
    }

    @Test
    void aRejectionIsRetried() throws Exception {
        HeldPermit permit = HeldPermit.of(threads, "full");
        failures.atFirst.set(permit::close);

        assertThat(reviews.busy(3)).succeedsWithin(10, SECONDS).isEqualTo("review of 3");

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

    static class Http {

        final ConcurrentHashMap<Long, String> answers = new ConcurrentHashMap<>();
        final ConcurrentHashMap<Long, Thread> callers = new ConcurrentHashMap<>();

        String get(long id) throws IOException {
            callers.put(id, Thread.currentThread());
            if (answers.containsKey(id)) {
                throw new IOException(answers.get(id));
            }
            return "review of " + id;
        }
    }

    @Service
    static class Reviews {

        private final Partner partner;

        Reviews(Partner partner) {
            this.partner = partner;
        }

        @VirtualThread("none") // the thread, and no permit
        @Retryable(maxRetries = 2, delay = 60_000)
        CompletableFuture<String> patient(long id) throws IOException {
            return completedFuture(partner.review(id));
        }

        @VirtualThread("none")
        @Retryable(maxRetries = 2, delay = 1)
        CompletableFuture<String> busy(long id) throws IOException {
            return completedFuture(partner.reviewOrNot(id));
        }
    }

    @Component
    static class Partner {

        private final Http http;

        Partner(Http http) {
            this.http = http;
        }

        @Limited("one") // the permit, for each attempt anew
        String review(long id) throws IOException {
            return http.get(id);
        }

        @Limited("full")
        String reviewOrNot(long id) throws IOException {
            return http.get(id);
        }
    }
}
