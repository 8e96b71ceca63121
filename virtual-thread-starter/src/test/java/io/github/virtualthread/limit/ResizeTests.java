package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.timer.TaskTimer;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.test.util.ReflectionTestUtils;

@Timeout(300)
@Tag("jdk")
class ResizeTests extends TimedLimits {

    private SemaphoreLimit limit(int permits) {
        return semaphore(LimitSettings.of("db", permits));
    }

    private static long holding(List<Call> calls) {
        return calls.stream().filter(Call::holds).count();
    }

    @Test
    void growingGrantsToWaitersAtOnceInTheirOrder() {
        SemaphoreLimit limit = limit(1);
        Call.asked(limit);
        List<Integer> order = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            int mine = i;
            Call.asked(limit).granted.thenRun(() -> order.add(mine));
        }

        limit.resize(1_001);

        assertThat(order).isSorted().hasSize(1_000);
        assertThat(limit.waiting()).isZero();
        assertThat(limit.available()).isZero();
        assertThat(limit.permits()).isEqualTo(1_001);
    }

    private TaskLimit onePermit(boolean isWithinAnother) {
        LimitSettings db = LimitSettings.of("db", 1);
        return limits(LimitSettings.of("all", 2_000), isWithinAnother ? db.withWithin("all") : db)
                .get("db");
    }

    /** So each can still expire, or be cancelled, until its own thread begins. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void growingTakesOneAfterTheOtherOutOfTheQueue(boolean isWithinAnother) {
        TaskLimit limit = onePermit(isWithinAnother);
        Call.asked(limit);
        List<Integer> waiting = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            Call.asked(limit).granted.thenRun(() -> waiting.add(limit.waiting()));
        }

        limit.resize(1_001);

        assertThat(waiting)
                .containsExactlyElementsOf(IntStream.iterate(999, left -> left - 1)
                        .limit(1_000)
                        .boxed()
                        .toList());
    }

    /** Whoever has freed the permits does: its loop is not over. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whoComesMeanwhileDoesNotStartTheOthers(boolean isWithinAnother) {
        TaskLimit limit = onePermit(isWithinAnother);
        Call running = Call.asked(limit);
        List<Integer> left = new ArrayList<>();
        Call first = Call.asked(limit);
        first.granted.thenRun(() -> {
            Call.asked(limit);
            left.add(limit.waiting());
            running.giveBack();
            left.add(limit.waiting());
        });
        Call.asked(limit, 1_000);

        limit.resize(2_000);

        assertThat(left.get(0)).as("with the new one").isEqualTo(1_000 + 1 - 1);
        assertThat(left.get(1)).isBetween(left.get(0) - 2, left.get(0) - 1);
        assertThat(limit.waiting()).isZero();
    }

    @Test
    void growingByOneGrantsToTheFirstWaiterOnly() {
        SemaphoreLimit limit = limit(1);
        List<Call> calls = Call.asked(limit, 4);

        limit.resize(2);

        assertThat(calls).extracting(Call::holds).containsExactly(true, true, false, false);
        assertThat(limit.waiting()).isEqualTo(2);
    }

    @Test
    void growingGrantsToWaitersThoughTheTimerOfANewLongestWaitGetsNoThread() {
        try (TaskTimer broken = TimerEntries.withoutThread()) {
            SemaphoreLimit limit = new SemaphoreLimit(LimitSettings.of("db", 1), null, broken, change -> {});
            Call.asked(limit);
            Call waiting = Call.asked(limit);

            assertThatThrownBy(() -> limit.change(
                            now -> now.withPermits(2).withMaxWait(Duration.ofHours(1)), LimitChange.Source.CODE))
                    .isInstanceOf(OutOfMemoryError.class);

            assertThat(waiting.holds()).isTrue();
        }
    }

    @Test
    void growingWhileNobodyWaitsFreesPermits() {
        SemaphoreLimit limit = limit(1);

        limit.resize(3);

        assertThat(limit.available()).isEqualTo(3);
        assertThat(holding(Call.asked(limit, 5))).isEqualTo(3);
    }

    @Test
    void oneWaiterThatCannotStartLeavesTheNewPermitsToTheOthers() {
        SemaphoreLimit limit = limit(1);
        Call.asked(limit);
        Call broken = Call.withoutThread(limit);
        assertThat(broken.ask()).isNull();
        List<Call> others = Call.asked(limit, 2);

        limit.resize(3);

        assertThat(broken.failed).succeedsWithin(Duration.ofMinutes(2));
        assertThat(others).allMatch(Call::holds);
    }

    @Test
    void shrinkingBelowWhatIsTakenTakesEffectAsPermitsComeBack() {
        SemaphoreLimit limit = limit(4);
        List<Call> running = Call.asked(limit, 4);
        Call waiting = Call.asked(limit);

        limit.resize(2);

        assertThat(limit.permits()).isEqualTo(2);
        assertThat(limit.available()).isZero();
        running.get(0).giveBack();
        running.get(1).giveBack();
        assertThat(waiting.holds()).isFalse();
        running.get(2).giveBack();
        assertThat(waiting.holds()).isTrue();
        running.get(3).giveBack();
        waiting.giveBack();
        assertThat(limit.available()).isEqualTo(2);
    }

    @Test
    void whoComesAfterAShrinkingWaits() {
        SemaphoreLimit limit = limit(3);
        Call.asked(limit);

        limit.resize(1);

        assertThat(Call.asked(limit).holds()).isFalse();
        assertThat(limit.available()).isZero();
    }

    @Test
    void shrinkingFreePermitsTakesThemAway() {
        SemaphoreLimit limit = limit(10);

        limit.resize(2);

        assertThat(limit.available()).isEqualTo(2);
        assertThat(holding(Call.asked(limit, 5))).isEqualTo(2);
    }

    @Test
    void growingAfterShrinkingBelowWhatIsTakenGrantsOnlyTheDifference() {
        SemaphoreLimit limit = limit(4);
        List<Call> running = Call.asked(limit, 4);
        List<Call> waiting = Call.asked(limit, 3);
        limit.resize(1);

        limit.resize(4);
        assertThat(holding(waiting)).isZero();
        limit.resize(5);
        assertThat(holding(waiting)).isEqualTo(1);

        running.forEach(Call::giveBack);
        waiting.forEach(Call::giveBack);
        assertThat(limit.available()).isEqualTo(5);
    }

    @Test
    void theLargestNumberOfPermitsDoesNotOverflow() {
        SemaphoreLimit limit = limit(1);
        Call holder = Call.asked(limit);

        limit.resize(Integer.MAX_VALUE);
        holder.giveBack();
        assertThat(limit.available()).isEqualTo(Integer.MAX_VALUE);

        limit.resize(1);
        assertThat(limit.available()).isEqualTo(1);
    }

    /**
     * What was granted before a shrinking is held for a while after it. Only who resizes knows the bound at each moment, so it
     * is the one to look.
     */
    @Test
    void resizingAtRandomWhileCallsComeAndGoNeverExceedsTheMaximumAndLosesNoPermit() throws Exception {
        long seed = Long.getLong("stress.seed", System.nanoTime());
        System.out.println("stress.seed=" + seed);
        SemaphoreLimit limit = limit(3);
        Semaphore semaphore = (Semaphore) ReflectionTestUtils.getField(limit.admission.level, "permits");
        AtomicInteger holding = new AtomicInteger();
        int callers = 4;
        int number = 20_000;
        CountDownLatch ended = new CountDownLatch(callers * number);
        for (int caller = 0; caller < callers; caller++) {
            Thread.ofPlatform().daemon().start(() -> {
                for (int i = 0; i < number; i++) {
                    new Call(limit) {
                        @Override
                        protected void granted() {
                            holding.incrementAndGet();
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

        SplittableRandom random = new SplittableRandom(seed);
        int resized = 0;
        while (ended.getCount() > 0) {
            int permits = 1 + random.nextInt(8);
            limit.resize(permits);
            // what is taken above the new number has to come back first, also where its holder is not counted yet
            long begin = System.nanoTime();
            while (semaphore.availablePermits() < 0 && System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(5)) {
                Thread.onSpinWait();
            }
            for (int look = 0; look < 100; look++) {
                assertThat(holding.get()).isLessThanOrEqualTo(permits);
            }
            resized++;
        }

        assertThat(ended.await(2, TimeUnit.MINUTES)).isTrue();
        assertThat(resized).isPositive();
        assertThat(limit.available()).isEqualTo(limit.permits());
        assertThat(limit.waiting()).isZero();
    }
}
