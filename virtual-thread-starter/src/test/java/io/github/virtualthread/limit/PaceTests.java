package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import java.util.function.ToDoubleFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a pace is worth, on a virtual clock: at three times the load nearly all of the capacity is done in time. */
@Timeout(300)
@Tag("slow")
class PaceTests {

    private static final long SECOND = 1_000_000_000;

    private final Pace pace = new Pace();

    private static ToDoubleFunction<Random> kind(String name) {
        return switch (name) {
            case "constant" -> Overload.CONSTANT;
            case "exponential" -> Overload.EXPONENTIAL;
            default -> Overload.TWO_KINDS;
        };
    }

    @ParameterizedTest
    @CsvSource({
        "20, constant, false", "20, constant, true", "20, exponential, false", "20, exponential, true",
        "20, two kinds, false", "20, two kinds, true", "200, constant, false", "200, exponential, false",
        "200, two kinds, true", "2, constant, false"
    })
    void nearlyAllOfTheCapacityIsDoneInTime(int permits, String kind, boolean interrupted) {
        Overload overload = new Overload(permits, kind(kind), 3, 2, interrupted, 60).run();

        print(permits + " permits, " + kind + (interrupted ? ", interrupted" : ""), overload, permits);
        assertThat(overload.share(10, 60, permits)).isGreaterThanOrEqualTo(0.97);
        assertThat(overload.diedWaiting).isLessThanOrEqualTo(overload.admitted / 50);
        // a run of 820 ms is late after a wait of half of the 2 s that was expected a fifth too short
        assertThat(overload.late).isLessThanOrEqualTo(overload.admitted / (kind.equals("two kinds") ? 33 : 50));
        if (!kind.equals("two kinds")) {
            assertThat(overload.wellExpected()).isGreaterThanOrEqualTo(0.95);
        }
    }

    private static void print(String what, Overload overload, int permits) {
        System.out.printf(
                "%s: %.1f %% of the capacity in time, %d refused, of %d admitted %.2f %% died waiting and %.2f %% were late,"
                        + " %.1f %% of the waits expected within a quarter%n",
                what,
                100 * overload.share(10, overload.inTime.length - 1, permits),
                overload.refused,
                overload.admitted,
                100.0 * overload.diedWaiting / overload.admitted,
                100.0 * overload.late / overload.admitted,
                100 * overload.wellExpected());
    }

    @ParameterizedTest
    @ValueSource(strings = {"constant", "exponential"})
    void nobodyIsRefusedBelowTheCapacity(String kind) {
        assertThat(new Overload(20, kind(kind), 0.9, 2, false, 300).run().refused)
                .isZero();
    }

    /** Runs take ten times as long for ten seconds: from the second second after that on the limit does its work. */
    @Test
    void aSlowTimePasses() {
        Overload overload = new Overload(20, Overload.EXPONENTIAL, 3, 2, false, 40)
                .speed(15, 0.1)
                .speed(25, 1)
                .run();

        print("10 times slower for 10 s", overload, 20);
        for (int second = 26; second < 40; second++) {
            assertThat(overload.share(second, second + 1, 20))
                    .as("second " + second)
                    .isGreaterThanOrEqualTo(0.85);
        }
    }

    @Test
    void aStopPasses() {
        Overload overload = new Overload(20, Overload.EXPONENTIAL, 3, 2, false, 40)
                .speed(15, 0.0001)
                .speed(20, 1)
                .run();

        print("a stop of 5 s", overload, 20);
        for (int second = 21; second < 40; second++) {
            assertThat(overload.share(second, second + 1, 20))
                    .as("second " + second)
                    .isGreaterThanOrEqualTo(0.85);
        }
    }

    /** A replica that is lent 10 and 30 permits by turns, each for two seconds. */
    @Test
    void aChangingLeaseIsFollowed() {
        Overload overload = new Overload(20, Overload.EXPONENTIAL, 3, 2, false, 60);
        for (int second = 0; second < 60; second += 4) {
            overload.permits(second, 10).permits(second + 2, 30);
        }
        overload.run();

        print("10 and 30 permits by turns", overload, 20);
        assertThat(overload.share(10, 60, 20)).isGreaterThanOrEqualTo(0.9);
    }

    @Test
    void belowTenEndsNothingIsKnown() {
        pace.look(1, 1, 100);

        assertThat(pace.nanosUntil(3, 1, SECOND, 109)).isZero();
        assertThat(pace.nanosUntil(3, 1, SECOND + 1, 110)).isEqualTo(SECOND * 3 / 10);
    }

    @Test
    void aWindowEndsAfterASecondAndTenEnds() {
        pace.look(1, 0, 0);
        pace.look(1, SECOND, 9); // too few
        pace.look(1, 2 * SECOND, 20); // ends the first window
        pace.look(1, 3 * SECOND - 1, 100); // too early
        assertThat(pace.nanosUntil(1, 1, 4 * SECOND, 100)).isEqualTo(SECOND / 25);

        pace.look(1, 4 * SECOND, 120); // ends the second one: what was before it is forgotten
        assertThat(pace.nanosUntil(1, 1, 4 * SECOND, 120)).isEqualTo(SECOND / 50);
    }

    @Test
    void anotherFullTimeBeginsAnew() {
        pace.look(1, 0, 0);
        pace.look(1, SECOND, 1000);
        assertThat(pace.nanosUntil(1, 1, SECOND, 1000)).isPositive();
        assertThat(pace.nanosUntil(1, 0, SECOND, 1000)).as("not full").isZero();
        assertThat(pace.nanosUntil(1, 7, SECOND, 1000)).as("full again").isZero();

        pace.look(7, 2 * SECOND, 2000);
        assertThat(pace.nanosUntil(1, 7, 2 * SECOND, 2009)).isZero();
        pace.look(0, 3 * SECOND, 3000);
        assertThat(pace.nanosUntil(1, 7, 3 * SECOND, 3000)).isZero();
    }
}
