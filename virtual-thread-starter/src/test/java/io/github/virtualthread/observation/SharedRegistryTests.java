package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two contexts in one registry, and what is left when they close. */
@Timeout(300)
class SharedRegistryTests {

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final Figures figures = new Figures(registry);

    @Test
    void allMetersGoWithTheContext() {
        Counter foreign = registry.counter("shop.orders");
        try (MeteredEngine test = MeteredEngine.started(registry, LimitSettings.of("db", 1))) {
            test.submit("db", () -> null).join();
            test.submit("mail-less", null, () -> null).join();
            assertThat(registry.getMeters()).hasSizeGreaterThan(10);
        }

        assertThat(registry.getMeters()).containsExactly(foreign);
    }

    @Test
    void aCallAfterTheCloseRegistersNothing() {
        MeteredEngine test = MeteredEngine.started(registry, LimitSettings.of("db", 1));
        test.meters.destroy();

        assertThat(test.submit("db", () -> "value").join()).isEqualTo("value");
        assertThat(registry.getMeters()).isEmpty();
        test.close();
    }

    @Test
    void aContextTakesAwayOnlyWhatItRegistered() throws Exception {
        try (MeteredEngine stays = MeteredEngine.started(registry, LimitSettings.of("db", 2))) {
            stays.submit("db", () -> null).join();
            MeteredEngine goes =
                    MeteredEngine.started(registry, LimitSettings.of("db", 3), LimitSettings.of("mail", 7));
            goes.submit("db", () -> null).join();
            goes.submit("mail", () -> null).join();
            stays.hold("db");
            assertThat(submitted("db")).isEqualTo(3);
            assertThat(permits("db")).isEqualTo(2);

            goes.close();
            stays.submit("db", () -> null).join();

            assertThat(submitted("db")).isEqualTo(4);
            assertThat(permits("db")).isEqualTo(2);
            assertThat(figures.value("tasks.active")).isEqualTo(1);
            assertThat(registry.getMeters())
                    .extracting(meter -> meter.getId().getTag("limit"))
                    .containsOnly("db");
        }
        assertThat(registry.getMeters()).isEmpty();
    }

    @Test
    void theFirstContextMayCloseFirst() {
        MeteredEngine first = MeteredEngine.started(registry, LimitSettings.of("db", 2));
        MeteredEngine second = MeteredEngine.started(registry, LimitSettings.of("db", 3));
        first.submit("db", () -> null).join();
        second.submit("db", () -> null).join();

        first.close();
        assertThat(registry.getMeters()).isEmpty();
        assertThat(second.submit("db", () -> "value").join()).isEqualTo("value");

        second.close();
        MeteredEngine third = MeteredEngine.started(registry, LimitSettings.of("db", 4));
        assertThat(permits("db")).isEqualTo(4);
        third.close();
        assertThat(registry.getMeters()).isEmpty();
    }

    @Test
    void twoRegistriesWithTheSameMetersAreApart() {
        MeterRegistry other = new SimpleMeterRegistry();
        try (MeteredEngine first = MeteredEngine.started(registry, LimitSettings.of("db", 2))) {
            first.submit("db", () -> null).join();
            try (MeteredEngine second = MeteredEngine.started(other, LimitSettings.of("db", 2))) {
                second.submit("db", () -> null).join();
            }
            assertThat(other.getMeters()).isEmpty();
            assertThat(submitted("db")).isEqualTo(1);
        }
        assertThat(registry.getMeters()).isEmpty();
    }

    private double submitted(String limit) {
        return figures.count("submitted", "limit", limit);
    }

    private double permits(String limit) {
        return figures.value("limit.permits", "limit", limit);
    }
}
