package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is done in time if a call waits for at most half of the time before its deadline, on a virtual clock: nearly all of the capacity,
 * with keys, with limits around, and at any load.
 */
@Timeout(300)
@Tag("slow")
class OverloadTests extends TimedLimits {

    private static final int PERMITS = 20;
    private static final double CAPACITY = PERMITS / 0.1;
    private static final double DEADLINE = 2;
    private static final LimitSettings DB = LimitSettings.of("db", PERMITS).withRejectHopeless(true);

    private static ToDoubleFunction<Random> work(String kind) {
        return switch (kind) {
            case "constant" -> Overload.CONSTANT;
            case "exponential" -> Overload.EXPONENTIAL;
            default -> Overload.TWO_KINDS;
        };
    }

    /** Calls come at so many times the rate at which the permits can do them. */
    private static Overload at(double load, Overload overload) {
        return overload.rate(now -> load * CAPACITY).deadline(DEADLINE);
    }

    private static double share(String what, Overload overload) {
        double share = overload.workDone(10, 60) / PERMITS;
        System.out.printf("%s: %.1f %% of the capacity in time%n", what, 100 * share);
        return share;
    }

    static Stream<Arguments> loads() {
        return Stream.of(0.5, 0.9, 1.0, 1.5, 3.0, 10.0)
                .flatMap(load -> Stream.of("constant", "exponential", "two kinds")
                        .flatMap(kind -> Stream.of(0, 4, 50, 1000).map(keys -> Arguments.of(load, kind, keys))));
    }

    @ParameterizedTest
    @MethodSource("loads")
    void nearlyAllOfTheCapacityIsDoneInTime(double load, String kind, int keys) {
        Overload overload = at(load, new Overload(limit(DB)).work(work(kind)));
        if (keys > 0) {
            overload.keys(random -> "key " + random.nextInt(keys));
        }
        overload.run(60);

        double share = share("load %s, %s runs, %d keys".formatted(load, kind, keys), overload);
        if (load > 1) {
            assertThat(share).isGreaterThanOrEqualTo(0.98);
        } else {
            // what comes, by chance, is a little more or less
            assertThat(share).isGreaterThanOrEqualTo(0.93 * load);
        }
        if (load == 0.5) {
            assertThat(overload.refused(10, 58)).isZero();
        }
    }

    @Test
    void alsoWithBoundsForEachKey() {
        LimitSettings bounded = DB.withPermitsPerKey(2);
        for (int keys : new int[] {10, 50, 1000}) {
            Overload overload = at(3, new Overload(limit(bounded)).work(Overload.EXPONENTIAL))
                    .keys(random -> "key " + random.nextInt(keys))
                    .run(60);

            assertThat(share("load 3, 2 permits per key, %d keys".formatted(keys), overload))
                    .isGreaterThanOrEqualTo(0.98);
        }
    }

    /** A few have keys, of which one sends half of these calls. */
    @Test
    void alsoWithCallsWithAndWithoutKeys() {
        Overload overload = at(3, new Overload(limit(DB)).work(Overload.EXPONENTIAL))
                .keys(random -> switch (random.nextInt(20)) {
                    case 0 -> "acme";
                    case 1 -> "key " + random.nextInt(50);
                    default -> null;
                })
                .run(60);

        assertThat(share("load 3, one in ten has a key", overload)).isGreaterThanOrEqualTo(0.98);
    }

    /** Two limits of 15 within one of 20. */
    @Test
    void alsoWithLimitsWithinEachOther() {
        TaskLimits limits = limits(
                DB,
                LimitSettings.of("one", 15).withRejectHopeless(true).withWithin("db"),
                LimitSettings.of("two", 15).withRejectHopeless(true).withWithin("db"));
        Overload overload = at(
                        3,
                        new Overload(random -> limits.get(random.nextInt(3) == 0 ? "one" : "two"))
                                .work(Overload.EXPONENTIAL))
                .run(60);

        assertThat(share("load 3, two limits within one", overload)).isGreaterThanOrEqualTo(0.98);
    }

    @Test
    void alsoWithBoundedQueues() {
        for (int queue : new int[] {0, 1, 40}) {
            Overload overload = at(10, new Overload(limit(DB.withQueueCapacity(queue))).work(Overload.EXPONENTIAL))
                    .run(60);

            assertThat(share("load 10, queue of %d".formatted(queue), overload)).isGreaterThanOrEqualTo(0.94);
        }
    }

    /** Twenty, ten and thirty permits by turns, as a lease lends them. */
    @Test
    void alsoWhilePermitsChange() {
        TaskLimit limit = limit(DB.withPermits(20));
        Overload overload = at(3, new Overload(limit).work(Overload.EXPONENTIAL));
        for (int second = 0; second < 60; second += 4) {
            overload.at(second, () -> limit.resize(10)).at(second + 2, () -> limit.resize(30));
        }
        overload.run(60);

        assertThat(share("load 3, 10 and 30 permits by turns", overload)).isGreaterThanOrEqualTo(0.98);
    }

    /** Runs take ten times as long for ten seconds, or stop for five: two seconds after that all is done in time again. */
    @ParameterizedTest
    @CsvSource({"0.1, 10, false", "0.1, 10, true", "0.0001, 5, false", "0.0001, 5, true"})
    void aSlowTimePasses(double speed, int seconds, boolean paced) {
        int over = 15 + seconds;
        Overload overload = at(3, new Overload(limit(DB)).work(Overload.EXPONENTIAL))
                .speed(15, speed)
                .speed(over, 1);
        if (paced) {
            overload.paced();
        }
        overload.run(60);

        for (int second = over + 2; second + 5 <= 60; second += 5) {
            assertThat(overload.workDone(second, second + 5) / PERMITS)
                    .as("from second " + second)
                    .isGreaterThanOrEqualTo(0.9);
        }
    }

    /** The pace says at once what would be known after half of the time, and of nobody else. */
    @ParameterizedTest
    @CsvSource({"3, constant", "3, exponential", "3, two kinds", "0.9, constant", "0.9, exponential"})
    void aPaceTellsAtOnce(double load, String kind) {
        Overload overload =
                at(load, new Overload(limit(DB)).work(work(kind))).paced().run(60);

        double refused = overload.refused(0, 60) * 60;
        System.out.printf(
                "%s runs, load %s: of %.0f refusals %d at once%n", kind, load, refused, overload.refusedAtOnce);
        if (load < 1) {
            assertThat(refused).isZero();
        } else {
            assertThat(share("load 3, %s runs, paced".formatted(kind), overload))
                    .isGreaterThanOrEqualTo(0.97);
            assertThat(overload.refusedAtOnce).isGreaterThan((int) (0.9 * refused));
        }
    }

    /** What it costs: a burst of which the last call would just have been in time. */
    @Test
    void aBurstThatWouldFitLosesWhatWaitsForLongerThanHalf() {
        int burst = (int) (CAPACITY * DEADLINE * 0.95);
        int[] done = new int[2];
        for (boolean halved : new boolean[] {true, false}) {
            Overload overload = new Overload(limit(DB)).deadline(DEADLINE).rate(now -> now < 0.01 ? burst * 100 : 0);
            if (!halved) {
                overload.unhalved();
            }
            overload.run(5);
            done[halved ? 0 : 1] = (int) Math.round(100.0 * overload.done(0, 5) * 5 / overload.came[0]);
        }
        System.out.printf(
                "a burst for 95 %% of the deadline: %d %% done in time, %d %% without the rule%n", done[0], done[1]);
        assertThat(done[0]).isBetween(50, 60);
        assertThat(done[1]).isGreaterThan(95);
    }
}
