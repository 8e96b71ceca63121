package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** How many calls a limit has finished lately. What that is worth is tested with {@link Overload}. */
class PaceTests {

    private static final long SECOND = 1_000_000_000;

    private final Pace pace = new Pace();

    @Test
    void belowTenEndsNothingIsKnown() {
        pace.look(1, 1, 100);

        assertThat(pace.nanosUntil(3, 0, 1, SECOND, 109)).isZero();
        assertThat(pace.nanosUntil(3, 0, 1, SECOND + 1, 110)).isEqualTo(SECOND * 3 / 10);
    }

    @Test
    void whatRunsCountsAsIfItEndedNow() {
        pace.look(1, 1, 100);

        assertThat(pace.nanosUntil(3, 10, 1, SECOND + 1, 110)).isEqualTo(SECOND * 3 / 20);
        assertThat(pace.nanosUntil(3, 10, 1, SECOND + 1, 109))
                .as("too few have ended")
                .isZero();
    }

    @Test
    void aWindowEndsAfterASecondAndTenEnds() {
        pace.look(1, 0, 0);
        pace.look(1, SECOND, 9); // too few
        pace.look(1, 2 * SECOND, 20); // ends the first window
        pace.look(1, 3 * SECOND - 1, 100); // too early
        assertThat(pace.nanosUntil(1, 0, 1, 4 * SECOND, 100)).isEqualTo(SECOND / 25);

        pace.look(1, 4 * SECOND, 120); // ends the second one: what was before it is forgotten
        assertThat(pace.nanosUntil(1, 0, 1, 4 * SECOND, 120)).isEqualTo(SECOND / 50);
    }

    @Test
    void anotherFullTimeBeginsAnew() {
        pace.look(1, 0, 0);
        pace.look(1, SECOND, 1000);
        assertThat(pace.nanosUntil(1, 0, 1, SECOND, 1000)).isPositive();
        assertThat(pace.nanosUntil(1, 0, 0, SECOND, 1000)).as("not full").isZero();
        assertThat(pace.nanosUntil(1, 0, 7, SECOND, 1000)).as("full again").isZero();

        pace.look(7, 2 * SECOND, 2000);
        assertThat(pace.nanosUntil(1, 0, 7, 2 * SECOND, 2009)).isZero();
        pace.look(0, 3 * SECOND, 3000);
        assertThat(pace.nanosUntil(1, 0, 7, 3 * SECOND, 3000)).isZero();
    }
}
