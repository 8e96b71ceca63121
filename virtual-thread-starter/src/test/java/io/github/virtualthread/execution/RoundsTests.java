package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.Rounds.Result;
import io.github.virtualthread.limit.LimitSettings.Adapt;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How the number of permits is found, on a virtual clock. */
class RoundsTests {

    private static final Adapt ADAPT = new Adapt(4, 80, Duration.ofMillis(150));
    private static final long MILLI = 1_000_000;

    private final Rounds rounds = new Rounds(0);
    private long now;

    /** So many runs of that time, the last of which ends the round. */
    private Result round(int permits, int number, int millis, boolean failed, int waiting) {
        runs(permits, number - 1, millis, failed, waiting);
        return Objects.requireNonNull(run(permits, millis, failed, waiting));
    }

    private void runs(int permits, int number, int millis, boolean failed, int waiting) {
        for (int i = 0; i < number; i++) {
            assertThat(run(permits, millis, failed, waiting)).isNull();
        }
    }

    private @Nullable Result run(int permits, int millis, boolean failed, int waiting) {
        now += 1000 * MILLI;
        return rounds.ended(permits, ADAPT, now - millis * MILLI, now, failed, waiting);
    }

    @Test
    void aRoundIsAsManyEndsAsPermitsAtLeastTwenty() {
        assertThat(round(4, 20, 100, false, 1).permits()).isEqualTo(5);
        assertThat(round(30, 30, 100, false, 1).permits()).isEqualTo(31);
    }

    @Test
    void withoutSlowRunsOneComesIfCallsWait() {
        runs(20, 9, 100, false, 0);
        assertThat(round(20, 11, 150, false, 1).permits()).isEqualTo(21);
        runs(20, 10, 100, false, 0);
        assertThat(round(20, 10, 100, false, 1).permits())
                .as("only half of the time")
                .isEqualTo(20);
        assertThat(round(80, 80, 100, false, 1).permits()).as("the most").isEqualTo(80);
    }

    @Test
    void ifMostRunsAreSlowAFifthGoes() {
        runs(20, 9, 100, false, 1);
        assertThat(round(20, 11, 151, false, 1).permits()).isEqualTo(16);
        runs(20, 10, 151, false, 1);
        assertThat(round(20, 10, 100, false, 1).permits())
                .as("only half of them")
                .isEqualTo(21);
        assertThat(round(4, 20, 151, false, 1).permits()).as("the least").isEqualTo(4);
    }

    @Test
    void ifATenthFailsAFifthGoes() {
        runs(20, 2, 1, true, 1);
        assertThat(round(20, 18, 100, false, 1).permits()).as("a tenth").isEqualTo(21);
        runs(20, 3, 1, true, 1);
        assertThat(round(20, 17, 100, false, 1).permits()).isEqualTo(16);
    }

    @Test
    void runsThatBeganBeforeTheDecreaseDoNotCount() {
        assertThat(round(20, 20, 500, false, 1).permits()).isEqualTo(16);
        for (int i = 0; i < 100; i++) {
            assertThat(rounds.ended(16, ADAPT, now - MILLI, now + i * MILLI, false, 1))
                    .isNull();
        }
        assertThat(round(16, 20, 100, false, 1).permits()).isEqualTo(17);
    }

    @Test
    void roundsAtTheLeastAreCounted() {
        for (int i = 1; i <= 10; i++) {
            assertThat(round(4, 20, 151, false, 1)).isEqualTo(new Result(4, 20, 20, i));
        }
        assertThat(round(4, 20, 100, false, 0).atLeast()).isZero();
        assertThat(round(4, 20, 151, false, 1).atLeast()).isEqualTo(1);
    }

    /** A partner that does so many calls at once in 50 to 150 ms each; more of them share it. Steps of 1 ms. */
    private final class Partner {

        private static final class Call {
            private final long begin;
            private double left;

            Call(long begin, double left) {
                this.begin = begin;
                this.left = left;
            }
        }

        private final Random random = new Random(7);
        private final Deque<Call> waiting = new ArrayDeque<>();
        private final List<Call> running = new ArrayList<>();
        private final List<Long> times = new ArrayList<>();
        private int permits = 20;
        private int changes;

        void run(int seconds, int capacity, double arrivals) {
            times.clear();
            for (int milli = 0; milli < seconds * 1000; milli++) {
                now += MILLI;
                if (milli == 10_000) {
                    times.clear();
                }
                if (random.nextDouble() < arrivals / 1000) {
                    waiting.add(new Call(now, 50 + 100 * random.nextDouble()));
                }
                while (waiting.size() > 1000) {
                    waiting.remove(); // has waited for two seconds
                }
                double speed = Math.min(1, capacity / (double) running.size());
                for (Call each : List.copyOf(running)) {
                    each.left -= speed;
                    if (each.left <= 0) {
                        end(each);
                    }
                }
                serve();
            }
        }

        private void serve() {
            while (running.size() < permits && !waiting.isEmpty()) {
                running.add(new Call(now, waiting.remove().left));
            }
        }

        private void end(Call call) {
            running.remove(call);
            times.add(now - call.begin);
            serve(); // the permit is back before the end is counted
            Result round = rounds.ended(permits, ADAPT, call.begin, now, false, waiting.size());
            if (round != null) {
                changes += round.permits() == permits ? 0 : 1;
                permits = round.permits();
            }
        }
    }

    @Test
    void theNumberFollowsThePartner() {
        Partner partner = new Partner();
        for (int capacity : new int[] {20, 5, 40}) {
            partner.run(60, capacity, 500);

            List<Long> times = partner.times.stream().sorted().toList();
            double share = times.size() / 50.0 / Math.min(500, capacity * 10);
            long last = times.get(times.size() * 99 / 100);
            System.out.printf(
                    "capacity %d: %.1f %% of the best number after 10 s, 99th percentile of the runs %d ms, %d permits at last%n",
                    capacity, 100 * share, last / MILLI, partner.permits);
            assertThat(share).isGreaterThanOrEqualTo(0.98); // as docs/limits.md says
            assertThat(last).isLessThanOrEqualTo(2 * 149 * MILLI);
        }
    }

    @Test
    void nothingChangesWhileItIsIdleOrHalfLoaded() {
        Partner partner = new Partner();
        partner.run(60, 20, 5);
        partner.run(60, 20, 100);

        assertThat(partner.changes).isZero();
        assertThat(partner.permits).isEqualTo(20);
    }
}
