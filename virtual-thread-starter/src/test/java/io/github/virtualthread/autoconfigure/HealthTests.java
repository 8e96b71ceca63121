package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.actuate.Boot3LimitsHealthIndicator;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.limit.TestLease;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.actuate.autoconfigure.health.HealthContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.health.HealthEndpointAutoConfiguration;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.HealthEndpoint;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Health of the limits with the types of Spring Boot 3; the sample has the test with those of Spring Boot 4. */
@Timeout(300)
class HealthTests {

    private final CountDownLatch gate = new CountDownLatch(1);
    private final ApplicationContextRunner off = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadBoot3HealthAutoConfiguration.class,
                    HealthContributorAutoConfiguration.class,
                    HealthEndpointAutoConfiguration.class))
            .withPropertyValues(
                    "virtual-thread.limits.db.permits=1",
                    "virtual-thread.shutdown.await-termination-period=0s",
                    "management.endpoint.health.probes.enabled=true");
    private final ApplicationContextRunner on = off.withPropertyValues("virtual-thread.health.saturated-after=1ns");

    @AfterEach
    void open() {
        gate.countDown();
    }

    @Test
    void isNotLookedAtUnlessAskedFor() {
        off.run(context -> assertNone(context));
        off.withPropertyValues("virtual-thread.health.saturated-after=").run(HealthTests::assertNone);
    }

    @Test
    void isNotThereIfNoLimitIsShared() {
        off.withBean(LimitSettings.class, () -> LimitSettings.of("report", 2)).run(HealthTests::assertNone);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void saysThatNobodyLendsPermitsEvenIfNotAskedFor(boolean asBean) {
        MemoryEngine away = new MemoryEngine(false);
        away.fail(); // what lends permits is the test
        ApplicationContextRunner shared = asBean
                ? off.withBean(LimitSettings.class, () -> LimitSettings.of("partner", 20)
                        .withClusterPermits(20)
                        .withOnFailure(OnFailure.WAIT))
                : off.withPropertyValues(
                        "virtual-thread.limits.partner.cluster-permits=20",
                        "virtual-thread.limits.partner.on-failure=wait",
                        "virtual-thread.health.saturated-after= ");
        shared.withPropertyValues("spring.application.name=shop")
                .withBean(MemoryEngine.class, () -> away)
                .run(context -> {
                    new TestLease(context.getBean(TaskLimits.class).get("partner")).lose(Duration.ofSeconds(13));
                    assertThat(context.getBean(VirtualThreads.class).submit("partner", () -> null))
                            .isNotDone();
                    saturate(context);

                    assertThat(health(context).getStatus()).isEqualTo(Status.UP);
                    assertThat(health(context).getDetails())
                            .isEqualTo(Map.of("partner", "no permits lent for 13 s: 0 of 20 permits"));
                    assertThat(context.getBean(HealthEndpoint.class)
                                    .healthForPath("virtualThreads")
                                    .getStatus())
                            .isEqualTo(Status.UP);
                });
    }

    @Test
    void isNotThereWithoutTheRestOfTheStarter() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadBoot3HealthAutoConfiguration.class, HealthContributorAutoConfiguration.class))
                .withPropertyValues("virtual-thread.health.saturated-after=1s")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Boot3LimitsHealthIndicator.class));
    }

    @Test
    void isUpWhileNobodyWaits() {
        on.run(context -> assertThat(health(context).getStatus()).isEqualTo(Status.UP));
    }

    @Test
    void isOutOfServiceWhileALimitIsFullForTooLong() {
        on.run(context -> {
            saturate(context);

            Health health = health(context);
            assertThat(health.getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
            assertThat(health.getDetails()).containsOnlyKeys("db");
            assertThat(health.getDetails().get("db"))
                    .asString()
                    .matches("full for \\d+ s: 0 of 1 permit free, 1 waiting");
        });
    }

    @Test
    void isUpWhileALimitIsFullForAShorterTime() {
        on.withPropertyValues("virtual-thread.health.saturated-after=1h").run(context -> {
            saturate(context);

            assertThat(health(context).getStatus()).isEqualTo(Status.UP);
        });
    }

    @Test
    void namesTheLimitAroundThatIsFull() {
        on.run(context -> {
            context.getBean(TaskLimits.class).add(LimitSettings.of("report", 2).withWithin("db"));
            saturate(context);
            assertThat(context.getBean(VirtualThreads.class).submit("report", () -> null))
                    .isNotDone();

            assertThat(health(context).getDetails().get("report"))
                    .asString()
                    .matches("full for \\d+ s: 2 of 2 permits free, 1 waiting, limit db around it has 0 of 1");
        });
    }

    @Test
    void namesLimitsThatTheApplicationOccupies() {
        on.run(context -> {
            try (TaskLimit.Occupation occupied =
                    context.getBean(TaskLimits.class).get("db").occupy()) {
                assertThat(occupied).isNotNull();
                assertThat(health(context).getStatus()).isEqualTo(Status.UP);
                assertThat(health(context).getDetails())
                        .isEqualTo(Map.of("db", "0 of 1 permit free, 0 waiting, occupied by the application"));

                CompletableFuture<?> waiting =
                        context.getBean(VirtualThreads.class).submit("db", () -> null);

                assertThat(waiting).isNotDone();
                assertThat(health(context).getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
                assertThat(health(context).getDetails().get("db"))
                        .asString()
                        .matches("full for \\d+ s: 0 of 1 permit free, 1 waiting, occupied by the application");
            }
            assertThat(health(context).getDetails()).isEmpty();
        });
    }

    @Test
    void saysThatNobodyLendsPermitsAndForHowLong() {
        MemoryEngine away = new MemoryEngine(false);
        away.fail(); // what lends permits is the test
        on.withPropertyValues("spring.application.name=shop")
                .withBean(MemoryEngine.class, () -> away)
                .withBean(LimitSettings.class, () -> LimitSettings.of("partner", 20)
                        .withClusterPermits(20)
                        .withOnFailure(OnFailure.WAIT))
                .run(context -> {
                    TaskLimit partner = context.getBean(TaskLimits.class).get("partner");
                    TestLease lease = new TestLease(partner);
                    assertThat(health(context).getDetails()).isEmpty(); // as at the start

                    lease.lend(7, 20);
                    assertThat(health(context).getDetails()).isEmpty();

                    lease.alone(7, Duration.ofSeconds(12));
                    assertThat(health(context).getDetails())
                            .isEqualTo(Map.of("partner", "alone for 12 s: 7 of 20 permits"));
                    assertThat(health(context).getStatus()).isEqualTo(Status.UP);

                    lease.lose(Duration.ofMillis(999));
                    assertThat(health(context).getDetails()).isEmpty();
                    lease.lose(Duration.ofSeconds(13));
                    assertThat(health(context).getDetails())
                            .isEqualTo(Map.of("partner", "no permits lent for 13 s: 0 of 20 permits"));
                    assertThat(health(context).getStatus()).isEqualTo(Status.UP);

                    assertThat(context.getBean(VirtualThreads.class).submit("partner", () -> null))
                            .isNotDone();
                    assertThat(health(context).getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
                    assertThat(health(context).getDetails().get("partner"))
                            .asString()
                            .matches("no permits lent for 13 s: 0 of 20 permits; full for \\d+ s: 0 of 0 permits free,"
                                    + " 1 waiting, nobody lends it permits");
                });
    }

    private static Health health(AssertableApplicationContext context) {
        return context.getBean(Boot3LimitsHealthIndicator.class).health();
    }

    @Test
    void countsForTheApplicationAndForNoProbe() {
        on.run(context -> {
            saturate(context);
            HealthEndpoint endpoint = context.getBean(HealthEndpoint.class);

            assertThat(endpoint.healthForPath("virtualThreads").getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
            assertThat(endpoint.health().getStatus()).isEqualTo(Status.OUT_OF_SERVICE);
            assertThat(endpoint.healthForPath("readiness", "virtualThreads")).isNull();
            assertThat(endpoint.healthForPath("liveness", "virtualThreads")).isNull();
        });
    }

    @Test
    void isNotThereWithoutActuator() {
        on.withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate.health"))
                .run(HealthTests::assertNone);
    }

    private void saturate(AssertableApplicationContext context) {
        VirtualThreads threads = context.getBean(VirtualThreads.class);
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<?> held = threads.submit("db", () -> {
            running.countDown();
            gate.await();
            return null;
        });
        try {
            running.await();
        } catch (InterruptedException interrupted) {
            throw new AssertionError(held.toString(), interrupted);
        }
        CompletableFuture<?> waiting = threads.submit("db", () -> null);
        assertThat(waiting).isNotDone();
    }

    private static void assertNone(AssertableApplicationContext context) {
        assertThat(context).hasNotFailed();
        assertThat(context.getBeansOfType(Boot3LimitsHealthIndicator.class)).isEmpty();
        HealthEndpoint endpoint = context.getBeanProvider(HealthEndpoint.class).getIfAvailable();
        if (endpoint != null) {
            assertThat(endpoint.healthForPath("virtualThreads")).isNull();
        }
    }
}
