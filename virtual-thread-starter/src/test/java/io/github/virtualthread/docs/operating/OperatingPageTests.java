package io.github.virtualthread.docs.operating;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadMetricsAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadObservationAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadPinningAutoConfiguration;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** The log lines of operating.md are those of the code, whatever the numbers in them. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class OperatingPageTests {

    private final CompletableFuture<String> gate = new CompletableFuture<>();
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadMetricsAutoConfiguration.class,
                    VirtualThreadPinningAutoConfiguration.class,
                    VirtualThreadObservationAutoConfiguration.class))
            .withPropertyValues(
                    "virtual-thread.limits.db.permits=2", "virtual-thread.shutdown.await-termination-period=0s");

    @Tag("slow")
    @Test
    void theLinesOfAFullLimitAndOfAStuckCallAreOnThePage(CapturedOutput output) {
        runner.withBean(PriceRepository.class)
                .withPropertyValues("virtual-thread.saturation.warn-after=1ms", "virtual-thread.stuck-after=1ms")
                .run(context -> {
                    PriceRepository prices = context.getBean(PriceRepository.class);
                    prices.find(gate);
                    prices.find(gate);
                    // a look at bodies that have not begun would tell of none, and then be silent for a minute
                    await().atMost(Duration.ofMinutes(2))
                            .until(() -> context.getBean(TaskEngine.class)
                                            .liveCalls()
                                            .running(context.getBean(TaskLimits.class)
                                                    .get("db"))
                                            .size()
                                    == 2);
                    for (int i = 0; i < 1001; i++) {
                        prices.find(gate);
                    }

                    assertLogged(output, Pages.block("docs/operating.md", "log", "full"));
                    // one look has found both, or each its own
                    assertLogged(
                            output,
                            Pages.block("docs/operating.md", "log", "stuck"),
                            Pages.block("docs/operating.md", "log", "one stuck"));
                });
    }

    @Tag("slow")
    @Test
    void theLineOfAPinIsOnThePage(CapturedOutput output) {
        runner.withBean(ProductPage.class)
                .withPropertyValues("virtual-thread.pinning.enabled=true", "virtual-thread.pinning.threshold=1ns")
                .run(context -> {
                    assertThat(context.getBean(ProductPage.class).price()).succeedsWithin(Duration.ofMinutes(2));

                    assertLogged(
                            output,
                            Pages.block("docs/operating.md", "log", "pinned")
                                    .replace("com.acme.Prices", OperatingPageTests.class.getName() + "$Prices"));
                });
    }

    @Test
    void theLinesOfALostEngineAreOnThePage(CapturedOutput output) {
        RedisConnectionFactory connections = mock(RedisConnectionFactory.class);
        when(connections.getConnection())
                .thenThrow(new QueryTimeoutException(
                        "Redis command timed out", new IOException("Command timed out after 2 second(s)")));
        ClusterEngine redis = new RedisClusterEngine(connections, "shop");
        MemoryEngine engine = new MemoryEngine(false);
        engine.before(redis::exchange);
        try (TaskTimer timer = new TaskTimer("timer")) {
            TaskLimits limits = new TaskLimits(
                    List.of(LimitSettings.of("partner", 20).withClusterPermits(20)), timer, change -> {});
            ClusterShares shares = new ClusterShares(
                    () -> engine,
                    new ClusterSettings("shop", Duration.ofMinutes(10), null, OnFailure.LOCAL_SHARE, 3),
                    timer);
            shares.add(limits.get("partner"));
            shares.start();
            assertLogged(output, Pages.block("docs/operating.md", "log", "lost"));

            engine.heal();
            assertLogged(output, Pages.block("docs/operating.md", "log", "back"));
            shares.stop();
        }
    }

    private static void assertLogged(CapturedOutput output, String... lines) {
        await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(withoutNumbers(output.getAll()))
                .containsAnyOf(Arrays.stream(lines)
                        .map(OperatingPageTests::withoutNumbers)
                        .toArray(String[]::new)));
    }

    private static String withoutNumbers(String text) {
        return text.replaceAll("\\d+(,\\d+)*(\\.\\d+)?", "N");
    }

    static class PriceRepository {

        @VirtualThread("db")
        CompletableFuture<String> find(CompletableFuture<String> gate) {
            return gate;
        }
    }

    static class ProductPage {

        @VirtualThread("db")
        CompletableFuture<Integer> price() {
            return CompletableFuture.completedFuture(FirstUse.PRICE);
        }
    }

    /** A class initialiser pins on every JDK. */
    static class FirstUse {
        static final int PRICE = Prices.find();
    }

    static class Prices {

        static int find() {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            return 1;
        }
    }
}
