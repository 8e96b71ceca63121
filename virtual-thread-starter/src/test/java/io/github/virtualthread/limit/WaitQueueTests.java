package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What is seen of a queue without its lock. */
@Timeout(20)
class WaitQueueTests {

    private static final Duration AGE = Duration.ofHours(1);
    private static final int ROUNDS = 2_000_000;

    private final TaskTimer timer = new TaskTimer("timer");
    private final SemaphoreLimit limit = new SemaphoreLimit(LimitSettings.of("db", 1), timer, change -> {});
    private final WaitQueue queue = new WaitQueue();

    /** Odd from the end of an old request's wait to the end of a new one's. */
    private final AtomicInteger era = new AtomicInteger();

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    /** Health and log would tell of a limit that had been full for an hour. */
    @Test
    void aNewRequestHasNotWaitedSinceAnEarlierOneCame() {
        CompletableFuture<Integer> wrong = CompletableFuture.supplyAsync(this::look, Thread::startVirtualThread);

        Call old = new Call(limit);
        Call fresh = new Call(limit);
        for (int i = 0; i < ROUNDS; i++) {
            old.askedAt = System.nanoTime() - AGE.toNanos();
            queue.add(old);
            queue.remove(old);
            era.incrementAndGet();
            fresh.askedAt = System.nanoTime();
            queue.add(fresh);
            queue.remove(fresh);
            era.incrementAndGet();
        }

        assertThat(wrong).succeedsWithin(10, TimeUnit.SECONDS).isEqualTo(0);
    }

    private int look() {
        int wrong = 0;
        for (int begin = era.get(); begin < 2 * ROUNDS; begin = era.get()) {
            Duration seen = queue.nonEmptyFor();
            if (begin % 2 == 1 && era.get() == begin && seen.compareTo(AGE) >= 0) {
                wrong++;
            }
        }
        return wrong;
    }
}
