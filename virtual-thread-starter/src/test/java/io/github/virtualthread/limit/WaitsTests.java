package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.virtualthread.limit.ShadowQueue.Waits;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WaitsTests {

    @Test
    void eachQuantileIsRightToOnePercent() {
        Random random = new Random(7);
        long[] waits = random.doubles(10_000, 0, 12)
                .mapToLong(exponent -> (long) (100_000 * Math.pow(10, exponent)))
                .sorted()
                .toArray();
        Waits counted = new Waits();
        Arrays.stream(waits).forEach(counted::add);

        for (double part : new double[] {0.01, 0.25, 0.5, 0.9, 0.99}) {
            double exact = waits[(int) Math.ceil(part * waits.length) - 1];
            assertThat((double) counted.quantile(part).toNanos()).isCloseTo(exact, within(exact * 0.01));
        }
        assertThat(counted.quantile(1))
                .isBetween(
                        Duration.ofNanos(waits[waits.length - 1])
                                .multipliedBy(99)
                                .dividedBy(100),
                        Duration.ofNanos(waits[waits.length - 1]));
    }

    @Test
    void noneIsZero() {
        assertThat(new Waits().quantile(0.99)).isZero();
    }

    @Test
    void whoDoesNotWaitIsZero() {
        Waits waits = new Waits();
        waits.add(0);
        waits.add(0);
        waits.add(1_000_000_000);

        assertThat(waits.quantile(0.5)).isZero();
        assertThat(waits.quantile(0.99).toMillis()).isBetween(990L, 1_000L);
    }

    @Test
    void theLongestThatThereIsFits() {
        Waits waits = new Waits();
        waits.add(Long.MAX_VALUE);

        assertThat(waits.quantile(0.5).toDays()).isBetween(105_000L, 106_752L);
    }
}
