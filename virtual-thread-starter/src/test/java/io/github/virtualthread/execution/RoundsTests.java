package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.Rounds.Result;
import io.github.virtualthread.execution.Rounds.Run;
import io.github.virtualthread.limit.LimitSettings.Adapt;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How one round changes the number of permits. What many of them do is tested with {@code Overload}. */
class RoundsTests {

    private static final Adapt ADAPT = new Adapt(4, 80, Duration.ofMillis(150));
    private static final long MILLI = 1_000_000;

    private final Rounds rounds = new Rounds(0);
    private long now;

    /** So many runs of that time, the last of which ends the round. */
    private Result round(int permits, int number, int millis, boolean stopped, int inUse) {
        runs(permits, number - 1, millis, stopped, inUse);
        return Objects.requireNonNull(run(permits, millis, stopped, inUse));
    }

    private void runs(int permits, int number, int millis, boolean stopped, int inUse) {
        for (int i = 0; i < number; i++) {
            assertThat(run(permits, millis, stopped, inUse)).isNull();
        }
    }

    private @Nullable Result run(int permits, int millis, boolean stopped, int inUse) {
        now += 1000 * MILLI;
        return rounds.ended(permits, ADAPT, new Run(now - millis * MILLI, now, stopped), inUse);
    }

    @Test
    void aRoundIsAsManyEndsAsPermitsAtLeastTwenty() {
        assertThat(round(4, 20, 100, false, 4).permits()).isEqualTo(5);
        assertThat(round(30, 30, 100, false, 30).permits()).isEqualTo(31);
    }

    /** With that of the run that has just ended. */
    @Test
    void withoutSlowRunsOneComesIfAllWereInUseAtOnce() {
        assertThat(round(20, 20, 100, false, 18).permits()).as("never").isEqualTo(20);
        runs(20, 19, 150, false, 0);
        assertThat(round(20, 1, 150, false, 19).permits()).as("once").isEqualTo(21);
        assertThat(round(20, 20, 100, false, 18).permits())
                .as("in another round")
                .isEqualTo(20);
        assertThat(round(80, 80, 100, false, 80).permits()).as("the most").isEqualTo(80);
    }

    @Test
    void ifMostRunsAreSlowAFifthGoes() {
        runs(20, 9, 100, false, 20);
        assertThat(round(20, 11, 151, false, 20).permits()).isEqualTo(16);
        runs(20, 10, 151, false, 20);
        assertThat(round(20, 10, 100, false, 20).permits())
                .as("only half of them")
                .isEqualTo(21);
        assertThat(round(4, 20, 151, false, 4).permits()).as("the least").isEqualTo(4);
    }

    @Test
    void ifATenthIsSlowAndStoppedAFifthGoes() {
        runs(20, 2, 151, true, 20);
        assertThat(round(20, 18, 100, false, 20).permits()).as("a tenth").isEqualTo(21);
        runs(20, 3, 151, true, 20);
        assertThat(round(20, 17, 100, false, 20).permits()).isEqualTo(16);
    }

    @Test
    void aRunThatItsDeadlineCutShortSaysNothing() {
        runs(20, 100, 150, true, 20);

        assertThat(round(20, 20, 150, false, 20)).isEqualTo(new Result(21, 0, 0, 20, 0));
    }

    @Test
    void runsThatBeganBeforeTheDecreaseDoNotCount() {
        assertThat(round(20, 20, 500, false, 20).permits()).isEqualTo(16);
        for (int i = 0; i < 100; i++) {
            assertThat(rounds.ended(16, ADAPT, new Run(now - MILLI, now + i * MILLI, false), 16))
                    .isNull();
        }
        assertThat(round(16, 20, 100, false, 16).permits()).isEqualTo(17);
    }

    @Test
    void roundsAtTheLeastAreCounted() {
        for (int i = 1; i <= 10; i++) {
            assertThat(round(4, 20, 151, i == 1, 4)).isEqualTo(new Result(4, 20, i == 1 ? 20 : 0, 20, i));
        }
        assertThat(round(4, 20, 100, false, 0).atLeast()).isZero();
        assertThat(round(4, 20, 151, false, 4).atLeast()).isEqualTo(1);
    }
}
