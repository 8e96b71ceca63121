package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** When the log tells of a full limit; a look is a second. */
@Tag("jdk")
class SaturationTests {

    private final Saturation saturation = new Saturation();

    @Test
    void isToldOnceAndThenOnceAMinute() {
        int told = 0;
        for (int second = 10; second <= 130; second++) {
            saturation.sample(0, 0, Duration.ofSeconds(second));
            told += saturation.isDue(Duration.ofSeconds(second)) ? 1 : 0;
        }

        assertThat(told).isEqualTo(3); // after 10, 70 and 130 seconds
    }

    @Test
    void isOverWhenNobodyWaitsOrOnlySomebodyWhoHasComeSince() {
        assertThat(saturation.endedBy(Duration.ZERO)).isNull();

        saturation.isDue(Duration.ofSeconds(10));
        assertThat(saturation.endedBy(Duration.ofSeconds(11))).isNull();
        assertThat(saturation.endedBy(Duration.ofSeconds(1))).isEqualTo(Duration.ofSeconds(10));

        assertThat(saturation.endedBy(Duration.ZERO)).isNull();
        assertThat(saturation.isDue(Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void countsWhatWasRejectedSinceTheLimitIsFull() {
        saturation.sample(0, 5, Duration.ZERO);
        saturation.sample(0, 7, Duration.ofMillis(1));
        assertThat(saturation.rejectedSinceFull()).isEqualTo(2);
        saturation.sample(0, 8, Duration.ofMillis(1001));
        assertThat(saturation.rejectedSinceFull()).isEqualTo(3);

        saturation.sample(0, 9, Duration.ofMillis(500)); // a permit was free in between
        assertThat(saturation.rejectedSinceFull()).isEqualTo(1);
    }

    @Test
    void countsWhatCompletedInTheLastMinuteOnly() {
        for (int second = 1; second <= 30; second++) {
            saturation.sample(second, 0, Duration.ZERO);
        }
        assertThat(saturation.completedInTheLastMinute()).isEqualTo(30);

        for (int second = 31; second <= 200; second++) {
            saturation.sample(second, 0, Duration.ZERO);
        }
        assertThat(saturation.completedInTheLastMinute()).isEqualTo(60);

        for (int second = 201; second <= 260; second++) {
            saturation.sample(200, 0, Duration.ZERO);
        }
        assertThat(saturation.completedInTheLastMinute()).isZero();
    }
}
