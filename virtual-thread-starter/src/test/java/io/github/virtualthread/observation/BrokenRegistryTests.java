package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.noop.NoopCounter;
import io.micrometer.core.instrument.noop.NoopTimer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** A registry that fails costs neither a call nor a permit. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class BrokenRegistryTests {

    @Test
    void aRegistryThatRefusesMetersIsToldOfOncePerMeter(CapturedOutput output) throws Exception {
        MeterRegistry refuses = new SimpleMeterRegistry();
        refuses.config().meterFilter(new MeterFilter() {
            @Override
            public MeterFilterReply accept(Meter.Id id) {
                throw new IllegalStateException("no more meters");
            }
        });

        everyOutcomeIsAsEver(refuses);

        assertThat(output.getAll().split("Meter 'virtual.thread.submitted' .* cannot be registered", -1))
                .hasSize(3); // of two methods
        assertThat(output).doesNotContain("has failed on a call");
    }

    @Test
    void aRegistryThatFailsToRecordIsNotHeardOfByCalls(CapturedOutput output) throws Exception {
        everyOutcomeIsAsEver(new FailsToRecord());

        assertThat(output).contains("has failed on a call of Shop.price");
    }

    private static void everyOutcomeIsAsEver(MeterRegistry registry) throws Exception {
        try (MeteredEngine test =
                MeteredEngine.started(registry, LimitSettings.of("db", 1).withQueueCapacity(0))) {
            for (int i = 0; i < 3; i++) {
                assertThat(test.submit("db", () -> "value").join()).isEqualTo("value");
                test.awaitIdle();
            }
            assertThatThrownBy(() -> test.submit("db", () -> {
                                throw new IllegalStateException("body");
                            })
                            .get(2, TimeUnit.MINUTES))
                    .hasRootCauseMessage("body");
            test.awaitIdle();
            assertThat(test.threads.<String>call("db", () -> "called")).isEqualTo("called");
            test.hold("db");
            assertThatThrownBy(() -> test.submit("db", () -> null).get(2, TimeUnit.MINUTES))
                    .hasCauseInstanceOf(LimitExceededException.class);
            test.gate.countDown();
            test.awaitIdle();
            assertThat(test.limits.get("db").available()).isEqualTo(1);
        }
    }

    private static final class FailsToRecord extends SimpleMeterRegistry {

        @Override
        protected Counter newCounter(Meter.Id id) {
            return new NoopCounter(id) {
                @Override
                public void increment(double amount) {
                    throw new IllegalStateException("disk full");
                }
            };
        }

        @Override
        protected Timer newTimer(Meter.Id id, DistributionStatisticConfig config, PauseDetector pauseDetector) {
            return new NoopTimer(id) {
                @Override
                public void record(long amount, TimeUnit unit) {
                    throw new IllegalStateException("disk full");
                }
            };
        }
    }
}
