package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Two contexts in one registry, and what is left when they close. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class SharedRegistryTests {

    private final MeterRegistry registry = new SimpleMeterRegistry();

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
    void theMetersOfAnotherContextStay(CapturedOutput output) throws Exception {
        try (MeteredEngine stays = MeteredEngine.started(registry, LimitSettings.of("db", 2))) {
            MeteredEngine goes =
                    MeteredEngine.started(registry, LimitSettings.of("db", 3), LimitSettings.of("mail", 7));
            goes.submit("db", () -> null).join();
            stays.submit("db", () -> null).join();
            stays.hold("db");
            assertThat(submitted()).isEqualTo(3);
            assertThat(permits("db")).isEqualTo(5);

            goes.close();
            stays.submit("db", () -> null).join();

            assertThat(submitted()).isEqualTo(4);
            assertThat(permits("db")).isEqualTo(2);
            assertThat(registry.get("virtual.thread.tasks.active").gauge().value())
                    .isEqualTo(1);
            assertThat(registry.find("virtual.thread.limit.permits")
                            .tags("limit", "mail")
                            .meter())
                    .isNull();
        }
        assertThat(registry.getMeters()).isEmpty();
        assertThat(output).doesNotContain("already been registered");
    }

    @Test
    void theFirstContextMayCloseFirst() {
        MeteredEngine first = MeteredEngine.started(registry, LimitSettings.of("db", 2));
        MeteredEngine second = MeteredEngine.started(registry, LimitSettings.of("db", 3));

        first.close();
        assertThat(permits("db")).isEqualTo(3);

        second.close();
        assertThat(registry.getMeters()).isEmpty();
    }

    private double submitted() {
        return registry.get("virtual.thread.submitted").counter().count();
    }

    private double permits(String limit) {
        return registry.get("virtual.thread.limit.permits")
                .tags("limit", limit)
                .gauge()
                .value();
    }
}
