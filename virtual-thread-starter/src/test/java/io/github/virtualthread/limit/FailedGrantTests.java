package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A permit that its request cannot use, since no thread can be started. */
@Timeout(300)
@Tag("jdk")
class FailedGrantTests extends TimedLimits {

    private final SemaphoreLimit limit = semaphore(LimitSettings.of("db", 1));

    @Test
    void thePermitIsFreeAgainWhenTheFirstCallCannotStart() {
        Call call = Call.withoutThread(limit);

        assertThat(call.ask()).isNull();

        assertThat(call.failed).succeedsWithin(Duration.ofMinutes(2)).isInstanceOf(OutOfMemoryError.class);
        assertThat(limit.available()).isEqualTo(1);
    }

    @Test
    void thePermitGoesToTheNextWaiter() {
        Call holder = Call.asked(limit);
        Call first = Call.withoutThread(limit);
        first.ask();
        Call second = Call.asked(limit);

        holder.giveBack();

        assertThat(first.failed).succeedsWithin(Duration.ofMinutes(2));
        assertThat(second.holds()).isTrue();
        assertThat(limit.available()).isZero();
    }

    @Test
    void aHundredThousandInARowNeedNoDeepStack() {
        Call holder = Call.asked(limit);
        List<Call> calls = new ArrayList<>();
        for (int i = 0; i < 100_000; i++) {
            Call call = Call.withoutThread(limit);
            call.ask();
            calls.add(call);
        }
        Call last = Call.asked(limit);

        holder.giveBack();

        assertThat(calls).allSatisfy(call -> assertThat(call.failed).succeedsWithin(Duration.ofMinutes(2)));
        assertThat(last.holds()).isTrue();
    }

    @Test
    void whoIsToldOfAFailureAndBlocksHoldsUpNobody() throws Exception {
        Call holder = Call.asked(limit);
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Call first = Call.withoutThread(limit);
        first.failed.thenRun(() -> {
            told.countDown();
            awaitUninterruptibly(release);
        });
        first.ask();
        Call second = Call.asked(limit);

        Thread giving = Thread.ofPlatform().start(holder::giveBack);
        told.await();

        try {
            assertThat(second.holds()).isTrue();
        } finally {
            release.countDown();
            giving.join();
        }
    }

    @Test
    void whoIsToldOfAFailureFindsThePermitReturned() {
        Call call = Call.withoutThread(limit);
        CompletableFuture<Integer> available = call.failed.thenApply(failure -> limit.available());

        call.ask();

        assertThat(available).succeedsWithin(Duration.ofMinutes(2)).isEqualTo(1);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }
}
