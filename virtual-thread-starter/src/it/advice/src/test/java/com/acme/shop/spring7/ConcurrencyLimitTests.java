package com.acme.shop.spring7;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.acme.shop.ShopTest;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.TaskLimits;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Import;
import org.springframework.resilience.InvocationRejectedException;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.ConcurrencyLimit.ThrottlePolicy;
import org.springframework.resilience.annotation.EnableResilientMethods;

@ShopTest
@Import(ConcurrencyLimitTests.Partner.class)
class ConcurrencyLimitTests {

    @Autowired
    Partner partner;

    @Autowired
    TaskLimits limits;

    /** Limit many has ten permits: eight calls wait for Spring's limit, with a permit of ours. */
    @Test
    void neverMoreThanTwoBodiesRunAndThoseThatWaitHoldOurPermits() throws Exception {
        Bodies bodies = new Bodies();
        List<CompletableFuture<Thread>> calls = new ArrayList<>();
        while (calls.size() < 10) {
            calls.add(partner.review(bodies));
        }
        assertThat(bodies.begun.await(120, SECONDS)).as("two bodies").isTrue();
        assertThat(limits.get("many").available()).isZero();
        bodies.finish.countDown();

        assertThat(calls)
                .allSatisfy(
                        call -> assertThat(call).succeedsWithin(120, SECONDS).matches(Thread::isVirtual));
        assertThat(bodies.most).hasValue(2);
    }

    @Test
    void itsRejectionComesThroughTheFuture() throws Exception {
        Bodies bodies = new Bodies();
        CompletableFuture<Thread> first = partner.reviewOrNot(bodies);
        await().atMost(120, SECONDS).until(() -> bodies.running.get() == 1);

        assertThat(partner.reviewOrNot(bodies))
                .failsWithin(120, SECONDS)
                .withThrowableThat()
                .havingCause()
                .isInstanceOf(InvocationRejectedException.class);
        bodies.finish.countDown();
        assertThat(first).succeedsWithin(120, SECONDS);
    }

    @TestConfiguration
    @EnableResilientMethods
    static class Resilience {}

    static class Bodies {

        final CountDownLatch begun = new CountDownLatch(2);
        final CountDownLatch finish = new CountDownLatch(1);
        final AtomicInteger running = new AtomicInteger();
        final AtomicInteger most = new AtomicInteger();

        CompletableFuture<Thread> run() throws InterruptedException {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            begun.countDown();
            finish.await(120, SECONDS);
            running.decrementAndGet();
            return completedFuture(Thread.currentThread());
        }
    }

    static class Partner {

        @VirtualThread("many")
        @ConcurrencyLimit(2)
        public CompletableFuture<Thread> review(Bodies bodies) throws InterruptedException {
            return bodies.run();
        }

        @VirtualThread("many")
        @ConcurrencyLimit(value = 1, policy = ThrottlePolicy.REJECT)
        public CompletableFuture<Thread> reviewOrNot(Bodies bodies) throws InterruptedException {
            return bodies.run();
        }
    }
}
