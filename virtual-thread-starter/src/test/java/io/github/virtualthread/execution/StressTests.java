package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.timer.TimerEntries;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.SoftAssertions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Everything at once, at random, in rounds; each ends with a stop in the middle of the calls. The seed is printed; {@code
 * -Dstress.seed=...} makes the same choices again, {@code -Dstress.seconds=...} goes on for longer, up to 240.
 */
@Timeout(300)
@Tag("slow")
@Tag("jdk")
class StressTests {

    private static final long SEED = Long.getLong("stress.seed", System.nanoTime());
    private static final long RUN = TimeUnit.SECONDS.toNanos(Long.getLong("stress.seconds", 10));
    private static final int CALLS_EACH = 600;
    private static final int AT_LEAST = 3;

    /** More than the JVM itself keeps of one round and not of another; one call in twelve, with its 200 bytes, would be more. */
    private static final long KEPT = 2 << 20;

    @Test
    void whateverHappensEveryCallEndsOnceInItsTurnAndLeavesNothingBehind() throws Exception {
        System.out.println("stress.seed=" + SEED);
        SplittableRandom random = new SplittableRandom(SEED);
        long begin = System.nanoTime();
        int rounds = 0;
        long heap = 0;
        try (StressLoad load = new StressLoad(random.nextLong())) {
            for (; rounds < AT_LEAST || System.nanoTime() - begin < RUN; rounds++) {
                int all = CALLS_EACH * StressLoad.CALLERS;
                load.round(CALLS_EACH, random.nextInt(all * 3 / 4, all));
                check(load, rounds);
                long used = StressHeap.used();
                if (rounds < AT_LEAST) {
                    heap = used;
                } else {
                    assertThat(used).as("heap after round %s", rounds).isLessThan(heap + KEPT);
                }
                load.test.engine.start();
            }
            System.out.printf(
                    "%d rounds in %d ms, %d KB of heap in the end, %d after %d rounds: %s%n",
                    rounds, millisSince(begin), StressHeap.used() >> 10, heap >> 10, AT_LEAST, load.seen);
            assertThat(load.seen.all()).as("every way to end").allMatch(number -> number > 0);
            load.test.close();
            StressHeap.awaitNoThread("vt-Stress");
            assertThat(TimerEntries.count(load.test.timer)).isZero();
            Awaitility.await().atMost(TestEngine.ENOUGH).until(() -> TimerEntries.threads(load.test.timer) == 0);
        }
    }

    private static long millisSince(long begin) {
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    }

    private static void check(StressLoad load, int round) throws Exception {
        SoftAssertions.assertSoftly(softly -> {
            softly.assertThat(load.seen.ended()).as("ended for callers").isEqualTo(load.seen.submitted.sum());
            softly.assertThat(load.heard.ended()).as("heard to end").isEqualTo(load.heard.submitted.sum());
            softly.assertThat(load.heard.submitted.sum()).as("heard of").isEqualTo(load.seen.submitted.sum());
            for (StressLimit limit : load.limits) {
                String name = limit.settings.name();
                softly.assertThat(limit.tooMany())
                        .as("too many at once under " + name)
                        .isZero();
                softly.assertThat(limit.overtaken())
                        .as("overtaken under " + name)
                        .isZero();
                softly.assertThat(limit.running()).as("running under " + name).isZero();
                softly.assertThat(load.test.limit(name).waiting())
                        .as("waiting under " + name)
                        .isZero();
                limit.reset(load.test);
                softly.assertThat(load.test.limit(name).available())
                        .as("permits of " + name)
                        .isEqualTo(limit.settings.permits());
            }
            softly.assertThat(load.test.engine.isIdle()).as("idle").isTrue();
            softly.assertThat(load.test.engine.liveCalls().running())
                    .as("threads of calls")
                    .isEmpty();
        });
        StressHeap.awaitNoThread("vt-Stress");
    }
}
