package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class SemaphoreLimitTests {

    private static final int OVER = Integer.MAX_VALUE;

    private final TaskTimer timer = new TaskTimer("timer");

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    private SemaphoreLimit limit(int permits) {
        return new SemaphoreLimit(LimitSettings.of("db", permits), null, timer, change -> {});
    }

    private SemaphoreLimit limit(int permits, int queueCapacity) {
        return new SemaphoreLimit(
                LimitSettings.of("db", permits).withQueueCapacity(queueCapacity), null, timer, change -> {});
    }

    @Test
    void grantsAtOnceWhileAPermitIsFree() {
        SemaphoreLimit limit = limit(2);

        assertThat(Call.asked(limit, 3)).extracting(Call::holds).containsExactly(true, true, false);
        assertThat(limit.available()).isZero();
        assertThat(limit.waiting()).isEqualTo(1);
    }

    @Test
    void grantsInTheOrderOfAsking() {
        SemaphoreLimit limit = limit(1);
        List<Call> calls = Call.asked(limit, 50);

        for (int turn = 0; turn < calls.size(); turn++) {
            int now = turn;
            assertThat(IntStream.range(0, calls.size()).filter(i -> calls.get(i).holds()))
                    .containsExactlyElementsOf(
                            IntStream.rangeClosed(0, now).boxed().toList());
            calls.get(turn).giveBack();
        }
    }

    @Test
    void nobodyOvertakesAWaiterWhilePermitsComeAndGo() throws Exception {
        SemaphoreLimit limit = limit(1);
        int number = 50_000;
        List<Integer> order = Collections.synchronizedList(new ArrayList<>(number));
        CountDownLatch ended = new CountDownLatch(number);

        for (int i = 0; i < number; i++) {
            int mine = i;
            new Call(limit) {
                @Override
                protected void granted() {
                    order.add(mine);
                    Thread.ofVirtual().start(() -> {
                        giveBack();
                        ended.countDown();
                    });
                }
            }.ask();
        }

        ended.await();
        assertThat(order).isSorted().hasSize(number);
    }

    @Test
    void givesAPermitBackOnlyOnce() {
        SemaphoreLimit limit = limit(2);
        Call call = Call.asked(limit);
        Call.asked(limit);

        call.giveBack();
        call.giveBack();

        assertThat(limit.available()).isEqualTo(1);
    }

    @Test
    void whoWaitsHasNothingToGiveBack() {
        SemaphoreLimit limit = limit(1);
        Call.asked(limit);
        Call waiting = Call.asked(limit);

        waiting.giveBack();

        assertThat(limit.available()).isZero();
        assertThat(waiting.holds()).isFalse();
    }

    @Test
    void whoLeftTheQueueIsNeitherGrantedNorCounted() {
        SemaphoreLimit limit = limit(1);
        List<Call> calls = Call.asked(limit, 4);

        assertThat(calls.get(2).leaveQueue()).isTrue();
        assertThat(calls.get(2).leaveQueue()).isFalse();
        assertThat(limit.waiting()).isEqualTo(2);
        calls.get(0).giveBack();
        calls.get(1).giveBack();

        assertThat(calls).extracting(Call::holds).containsExactly(true, true, false, true);
    }

    @Test
    void whoHoldsAPermitCannotLeave() {
        Call holder = Call.asked(limit(1));

        assertThat(holder.leaveQueue()).isFalse();
    }

    @Test
    void refusesOneMoreThanTheQueueHolds() {
        SemaphoreLimit limit = limit(1, 2);
        List<Call> calls = Call.asked(limit, 3);

        assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);
        calls.get(1).leaveQueue();
        assertThat(new Call(limit).ask()).isNull();
        assertThat(limit.waiting()).isEqualTo(2);
    }

    @Test
    void runsWithoutAQueueWhenItsCapacityIsZero() {
        SemaphoreLimit limit = limit(1, 0);
        Call holder = Call.asked(limit);

        assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);
        holder.giveBack();
        assertThat(Call.asked(limit).holds()).isTrue();
    }

    @Test
    void puttingEverybodyOutTellsEachOfThem() {
        SemaphoreLimit limit = limit(1);
        List<Call> calls = Call.asked(limit, 3);

        limit.admission.evict(Reason.SHUTDOWN);

        assertThat(calls.subList(1, 3)).allSatisfy(call -> assertThat(call.rejected)
                .succeedsWithin(Duration.ofMinutes(2))
                .isEqualTo(Reason.SHUTDOWN));
        assertThat(calls.get(0).rejected).isNotDone();
        assertThat(limit.waiting()).isZero();
        calls.get(0).giveBack();
        assertThat(limit.available()).isEqualTo(1);
    }

    @Test
    void neverGrantsMoreThanItsPermitsToManyThreads() throws Exception {
        SemaphoreLimit limit = limit(3);
        AtomicInteger holding = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        int number = 20_000;
        CountDownLatch ended = new CountDownLatch(number);

        for (int thread = 0; thread < 8; thread++) {
            Thread.ofPlatform().start(() -> {
                for (int i = 0; i < number / 8; i++) {
                    new Call(limit) {
                        @Override
                        protected void granted() {
                            most.accumulateAndGet(holding.incrementAndGet(), Math::max);
                            Thread.ofVirtual().start(() -> {
                                holding.decrementAndGet();
                                giveBack();
                                ended.countDown();
                            });
                        }
                    }.ask();
                }
            });
        }

        ended.await();
        assertThat(most.get()).isBetween(1, 3);
        assertThat(limit.available()).isEqualTo(3);
        assertThat(limit.waiting()).isZero();
    }

    @Tag("slow")
    @Test
    void noCallIsLeftBehindThatQueuesWhileThePermitComesBack() throws Exception {
        SemaphoreLimit limit = limit(1);
        AtomicReference<Call> holder = new AtomicReference<>();
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        Thread giving = Thread.ofPlatform().daemon().start(() -> {
            for (int round = 1; reached(begun, round) != OVER; round++) {
                holder.get().giveBack();
                ended.set(round);
            }
        });

        // as many rounds as the machine gets through in a second, with whatever else it does
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        for (int round = 1; System.nanoTime() < end; round++) {
            holder.set(Call.asked(limit));
            begun.set(round);
            for (int i = round % 64; i > 0; i--) {
                Thread.onSpinWait(); // meets the other thread at each point of its way
            }
            Call next = Call.asked(limit);
            reached(ended, round);
            assertThat(next.holds()).isTrue();
            next.giveBack();
        }
        begun.set(OVER);
        giving.join();
    }

    private static int reached(AtomicInteger counter, int round) {
        for (int spins = 0; counter.get() < round && !Thread.currentThread().isInterrupted(); spins++) {
            if (spins < 1_000) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
        return counter.get();
    }
}
