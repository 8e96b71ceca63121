package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.actuate.Boot3LimitsHealthIndicator;
import io.github.virtualthread.actuate.VirtualThreadsEndpoint;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.limit.TestLease;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Permits that hang at a limit where nobody may wait: everything that reports full limits has to report this one. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class FullLimitReportTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadMetricsAutoConfiguration.class,
                    VirtualThreadActuatorAutoConfiguration.class,
                    VirtualThreadBoot3HealthAutoConfiguration.class))
            .withBean(MeterRegistry.class, SimpleMeterRegistry::new)
            .withBean(Prices.class)
            .withPropertyValues(
                    "virtual-thread.limits.db.permits=5",
                    "virtual-thread.limits.db.queue-capacity=0",
                    "virtual-thread.health.saturated-after=1ns",
                    "virtual-thread.saturation.warn-after=1ns",
                    "virtual-thread.shutdown.await-termination-period=0s",
                    "management.endpoints.web.exposure.include=virtualthreads");

    @Tag("slow")
    @Test
    void logEndpointHealthAndMeterSeeIt(CapturedOutput output) {
        runner.run(context -> {
            Prices prices = context.getBean(Prices.class);
            for (int i = 0; i < 5; i++) {
                prices.find(new CompletableFuture<>());
            }
            assertThat(meter(context)).isZero();
            assertThat(health(context)).isEqualTo(Status.UP);

            assertThat(prices.find(new CompletableFuture<>())).isCompletedExceptionally();

            assertThat(meter(context)).isPositive();
            assertThat(health(context)).isEqualTo(Status.OUT_OF_SERVICE);
            await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> {
                assertThat(endpoint(context)).isPositive();
                assertThat(output).contains("Limit 'db' full for ").contains("0 waiting; 1 rejected since");
            });
        });
    }

    @Tag("slow")
    @Test
    void aFullLimitThatAllReplicasShareHasItsShare(CapturedOutput output) {
        MemoryEngine away = new MemoryEngine(false);
        away.fail(); // what lends permits is the test
        runner.withPropertyValues("spring.application.name=shop")
                .withBean(MemoryEngine.class, () -> away)
                .withBean(LimitSettings.class, () -> LimitSettings.of("partner", 20)
                        .withClusterPermits(20)
                        .withOnFailure(OnFailure.WAIT))
                .run(context -> {
                    new TestLease(context.getBean(TaskLimits.class).get("partner")).lend(1, 20);
                    VirtualThreads threads = context.getBean(VirtualThreads.class);
                    CountDownLatch release = new CountDownLatch(1);
                    var held = threads.submit("partner", () -> release.await(2, TimeUnit.MINUTES));
                    var waiting = threads.submit("partner", () -> null);

                    await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(output)
                            .contains("Limit 'partner' full for ")
                            .contains(" s: 1 of 1 running (20 in all replicas)"));
                    release.countDown();
                    assertThat(held).succeedsWithin(Duration.ofMinutes(2));
                    assertThat(waiting).succeedsWithin(Duration.ofMinutes(2));
                });
    }

    @Test
    void theAlertReadsTheMeter() throws IOException {
        assertThat(Files.readString(Path.of("../docs/prometheus-rules.yml")))
                .contains(
                        "alert: VirtualThreadLimitSaturated\n        expr: virtual_thread_limit_saturated_seconds > ");
    }

    private static double meter(AssertableApplicationContext context) {
        return context.getBean(MeterRegistry.class)
                .get("virtual.thread.limit.saturated")
                .gauge()
                .value();
    }

    private static Status health(AssertableApplicationContext context) {
        return context.getBean(Boot3LimitsHealthIndicator.class).health().getStatus();
    }

    private static double endpoint(AssertableApplicationContext context) {
        return (double) context.getBean(VirtualThreadsEndpoint.class)
                .overview()
                .limits()
                .get(0)
                .get("saturatedForSeconds");
    }

    static class Prices {

        @VirtualThread("db")
        CompletableFuture<String> find(CompletableFuture<String> answer) {
            return answer;
        }
    }
}
