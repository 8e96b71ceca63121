package io.github.virtualthread.autoconfigure.properties;

import static io.github.virtualthread.autoconfigure.Contexts.mistakes;
import static io.github.virtualthread.autoconfigure.Contexts.setVariables;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.config.EngineSettings;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimitCustomizer;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;

@Timeout(300)
class PropertiesTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class));

    @Test
    void aLimitLiesWithinAnotherAndBoundsEachKey() {
        runner.withPropertyValues(
                        "virtual-thread.limits.report.permits=8",
                        "virtual-thread.limits.report.within= orders-db ",
                        "virtual-thread.limits.report.permits-per-key=3",
                        "virtual-thread.limits.report.queue-capacity-per-key=0",
                        "virtual-thread.limits.ordersDb.permits=20")
                .run(context -> {
                    TaskLimits limits = context.getBean(TaskLimits.class);
                    TaskLimit report = limits.get("report");

                    assertThat(report.within()).isSameAs(limits.get("orders-db"));
                    assertThat(report.permitsPerKey()).isEqualTo(3);
                    assertThat(report.queueCapacityPerKey()).isZero();
                    assertThat(limits.get("orders-db").within()).isNull();
                    assertThat(limits.get("orders-db").permitsPerKey()).isEqualTo(LimitSettings.UNBOUNDED);
                });
    }

    @Test
    void aLimitOfAPropertyAndOneOfABeanLieWithinEachOther() {
        runner.withBean("db", LimitSettings.class, () -> LimitSettings.of("db", 20))
                .withBean("page", LimitSettings.class, () -> LimitSettings.of("page", 4)
                        .withWithin("report")
                        .withPermitsPerKey(1)
                        .withQueueCapacityPerKey(7))
                .withPropertyValues("virtual-thread.limits.report.permits=8", "virtual-thread.limits.report.within=db")
                .run(context -> {
                    TaskLimits limits = context.getBean(TaskLimits.class);

                    assertThat(limits.get("report").within()).isSameAs(limits.get("db"));
                    assertThat(limits.get("page").within()).isSameAs(limits.get("report"));
                    assertThat(limits.get("page"))
                            .hasToString(
                                    "page (4 permits, 1 per key, within report, unbounded queue, 7 per key, unbounded wait)");
                });
    }

    @Test
    void keysHaveWeights() {
        runner.withPropertyValues(
                        "virtual-thread.limits.report.permits=8",
                        "virtual-thread.limits.report.key-weights.gold=3",
                        "virtual-thread.limits.report.key-weights.[Ä b.c]=0.1",
                        "virtual-thread.limits.report.key-weights.silver=")
                .run(context -> assertThat(context.getBean(TaskLimits.class)
                                .get("report")
                                .settings()
                                .keyWeights())
                        .isEqualTo(Map.of("gold", 3.0, "Ä b.c", 0.1)));
    }

    @Test
    void aLimitFindsItsNumber() {
        runner.withPropertyValues(
                        "virtual-thread.limits.report.permits=20",
                        "virtual-thread.limits.report.adapt.least=4",
                        "virtual-thread.limits.report.adapt.most=80",
                        "virtual-thread.limits.report.adapt.run-time=1ns")
                .run(context -> {
                    VirtualThreads threads = context.getBean(VirtualThreads.class);
                    for (int i = 0; i < 20; i++) {
                        threads.submit("report", () -> "").join();
                    }

                    assertThat(context.getBean(TaskLimits.class).get("report"))
                            .hasToString(
                                    "report (16 permits of 4 to 80, unbounded queue, unbounded wait, hopeless calls rejected)");
                });
    }

    @Test
    void aLimitThatFindsItsNumberNeedsAllThree() {
        runner.withPropertyValues(
                        "virtual-thread.limits.report.permits=20",
                        "virtual-thread.limits.report.adapt.least=4",
                        "virtual-thread.limits.db.permits=20",
                        "virtual-thread.limits.db.adapt.most=80",
                        "virtual-thread.limits.db.adapt.run-time=1s")
                .run(context -> assertThat(mistakes(context))
                        .extracting(mistake -> mistake.description())
                        .containsExactlyInAnyOrder(
                                "Limit 'report' has adapt without most and run-time",
                                "Limit 'db' has adapt without least"));
    }

    @Test
    void aCustomizerBoundsEachKey() {
        TaskLimitCustomizer customizer = limit -> {
            limit.setPermitsPerKey(2);
            limit.setQueueCapacityPerKey(7);
        };
        runner.withBean(TaskLimitCustomizer.class, () -> customizer)
                .withPropertyValues("virtual-thread.limits.report.permits=8")
                .run(context -> assertThat(context.getBean(TaskLimits.class).get("report"))
                        .hasToString("report (8 permits, 2 per key, unbounded queue, 7 per key, unbounded wait)"));
    }

    @Test
    void aNameWithDotsIsWrittenInBrackets() {
        runner.withPropertyValues("virtual-thread.limits[partner.api].permits=3")
                .run(context -> assertThat(context.getBean(TaskLimits.class)
                                .get("partner.api")
                                .permits())
                        .isEqualTo(3));
    }

    @Test
    void anEnvironmentVariableOverridesTheLimitOfTheFile() {
        runner.withPropertyValues(
                        "virtual-thread.limits.db.permits=40",
                        "virtual-thread.limits.mail.permits=40",
                        "virtual-thread.limits.price-db.permits=20",
                        "virtual-thread.limits.price-db.queue-capacity=7",
                        "virtual-thread.limits.price-db.within=mail",
                        "virtual-thread.limits.price-db.permits-per-key=6",
                        "virtual-thread.limits.price-db.queue-capacity-per-key=5")
                .withInitializer(context -> setVariables(
                        context.getEnvironment(),
                        Map.of(
                                "VIRTUALTHREAD_LIMITS_PRICEDB_PERMITS", "30",
                                "VIRTUALTHREAD_LIMITS_PRICEDB_WITHIN", "db",
                                "VIRTUALTHREAD_LIMITS_PRICEDB_PERMITSPERKEY", "4",
                                "VIRTUALTHREAD_LIMITS_PRICEDB_MAX_WAIT", "3s")))
                .withInitializer(context -> {
                    // the test's own values stand in for a file, which environment variables override
                    var sources = context.getEnvironment().getPropertySources();
                    var file = sources.remove("test");
                    sources.addLast(file);
                })
                .run(context -> {
                    TaskLimits limits = context.getBean(TaskLimits.class);

                    assertThat(limits.names()).containsExactly("db", "mail", "price-db");
                    assertThat(limits.get("priceDb").permits()).isEqualTo(30);
                    assertThat(limits.get("priceDb").queueCapacity()).isEqualTo(7);
                    assertThat(limits.get("priceDb").within()).isSameAs(limits.get("db"));
                    assertThat(limits.get("priceDb").permitsPerKey()).isEqualTo(4);
                    assertThat(limits.get("priceDb").queueCapacityPerKey()).isEqualTo(5);
                    assertThat(limits.get("priceDb").maxWait()).isEqualTo(Duration.ofSeconds(3));
                });
    }

    @Test
    void aLimitIsShownAsTheAnnotationSpellsIt() {
        runner.withPropertyValues("virtual-thread.limits.pricedb.permits=20")
                .withBean(Prices.class)
                .run(context ->
                        assertThat(context.getBean(TaskLimits.class).names()).containsExactly("price-db"));
    }

    @Test
    void aDefaultLimitBoundsMethodsThatNameNone() {
        runner.withPropertyValues("virtual-thread.limits.all.permits=1", "virtual-thread.default-limit=all")
                .withBean(Stock.class)
                .run(context -> {
                    Stock stock = context.getBean(Stock.class);
                    TaskLimit all = context.getBean(TaskLimits.class).get("all");
                    CompletableFuture<String> gate = new CompletableFuture<>();

                    CompletableFuture<String> running = stock.wait(gate);
                    CompletableFuture<String> waiting = stock.wait(gate);
                    CompletableFuture<String> unlimited = stock.unlimited();

                    assertThat(unlimited).succeedsWithin(Duration.ofMinutes(2));
                    assertThat(all.waiting()).isEqualTo(1);
                    gate.complete("open");
                    assertThat(running).succeedsWithin(Duration.ofMinutes(2));
                    assertThat(waiting).succeedsWithin(Duration.ofMinutes(2));
                });
    }

    @Test
    void aTimeoutEndsTheRunsOfMethodsThatSetNone() {
        runner.withPropertyValues("virtual-thread.timeout=10ms")
                .withBean(Stock.class)
                .run(context -> assertThat(context.getBean(Stock.class).wait(new CompletableFuture<>()))
                        .failsWithin(Duration.ofMinutes(2))
                        .withThrowableThat()
                        .withCauseInstanceOf(TimeoutException.class));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "limits.db.max-wait",
                "timeout",
                "stuck-after",
                "methods[com.acme.Mailer.send].timeout",
                "saturation.warn-after",
                "pinning.threshold",
                "health.saturated-after",
                "shutdown.await-termination-period"
            })
    void aDurationWithoutAUnitIsAMistake(String key) {
        for (String value : List.of("2", "0", "${wait:2}", " 2 ")) {
            runner.withPropertyValues("virtual-thread.limits.db.permits=2", "virtual-thread." + key + "=" + value)
                    .run(context -> assertThat(context.getStartupFailure())
                            .isInstanceOf(VirtualThreadConfigurationException.class)
                            .hasMessageStartingWith(
                                    "virtual-thread." + key + " must be a duration with a unit, was '"));
        }
    }

    @Test
    void aNumberOfYamlIsNoDurationEither() {
        runner.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("yaml", Map.of("virtual-thread.timeout", 2))))
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageStartingWith("virtual-thread.timeout must be a duration with a unit, was '2'"));
    }

    @Test
    void aDurationInIsoFormHasItsUnits() {
        runner.withPropertyValues("virtual-thread.timeout=PT2M")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void aBlankValueCountsAsNotSet() {
        runner.withPropertyValues(
                        "virtual-thread.limits.db.permits=2",
                        "virtual-thread.limits.db.queue-capacity=",
                        "virtual-thread.limits.db.maxWait=",
                        "virtual-thread.limits.db.within=",
                        "virtual-thread.limits.db.permits-per-key=",
                        "virtual-thread.limits.db.reject-hopeless=",
                        "virtual-thread.limits.db.nested=",
                        "virtual-thread.limits.db.queue-capacity-per-key=",
                        "virtual-thread.timeout=",
                        "virtual-thread.methods[com.acme.Mailer.send].timeout=",
                        "virtual-thread.propagation.mdc-keys=",
                        "virtual-thread.health.saturated-after=",
                        "virtual-thread.default-limit=")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(context.getBean(EngineSettings.class).methods().timeout())
                            .isNull();
                    assertThat(context.getBean(TaskLimits.class).get("db").maxWait())
                            .isNull();
                    assertThat(context.getBean(TaskLimits.class).get("db").within())
                            .isNull();
                    assertThat(context.getBean(TaskLimits.class).get("db").permitsPerKey())
                            .isEqualTo(LimitSettings.UNBOUNDED);
                });
        runner.withPropertyValues("virtual-thread.limits.db.permits=", "virtual-thread.limits.db.queue-capacity=1")
                .run(context -> assertThat(mistakes(context))
                        .extracting(mistake -> mistake.description())
                        .containsExactly("Limit 'db' has no permits"));
    }

    @Test
    void allMistakesComeInOneReport() {
        runner.withPropertyValues(
                        "virtual-thread.limits.db.permits=0",
                        "virtual-thread.limits.db.queue-capacity=-1",
                        "virtual-thread.limits.mail.permits=1",
                        "virtual-thread.limits.mail.max-wait=-2s",
                        "virtual-thread.limits.none.permits=1",
                        "virtual-thread.limits.report.permits=0",
                        "virtual-thread.limits.report.within=bd",
                        "virtual-thread.limits.a.permits=1",
                        "virtual-thread.limits.a.within=b",
                        "virtual-thread.limits.b.permits=1",
                        "virtual-thread.limits.b.within=a",
                        "virtual-thread.default-limit=al",
                        "virtual-thread.shutdown.await-termination-period=-1s")
                .withBean(Prices.class)
                .run(context -> assertThat(mistakes(context))
                        .extracting(mistake -> mistake.description())
                        .contains(
                                "Limit 'db': permits must be at least 1, was 0" + place("limits.db.permits")
                                        + "; queue-capacity must be at least 0, was -1"
                                        + place("limits.db.queue-capacity"),
                                "Limit 'mail': max-wait must be longer than zero, was -2s"
                                        + " (to reject calls instead of letting them wait, set queue-capacity to 0)"
                                        + place("limits.mail.max-wait"),
                                "Limit 'none': the name 'none' is reserved for calls without a limit",
                                "Limit 'report': permits must be at least 1, was 0" + place("limits.report.permits"),
                                "Limit 'report' lies within 'bd', but the other limits are [a, b, db, mail]",
                                "Limits lie within each other: a within b within a",
                                "virtual-thread.shutdown.await-termination-period must not be negative, was -1s"
                                        + place("shutdown.await-termination-period"))
                        .anySatisfy(description -> assertThat(description).contains("'price-db'"))
                        .anySatisfy(description -> assertThat(description).contains("'al'")));
    }

    private static String place(String key) {
        return " (\"virtual-thread.%s\" from property source \"test\")".formatted(key);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"permits=0", "queue-capacity=7", "permits-from=a", "permits-from=", "headroom=1", "max-wait=0s"})
    void aLimitWithAMistakeIsNoUnknownLimitToo(String key) {
        runner.withPropertyValues("virtual-thread.limits.price-db." + key, "virtual-thread.default-limit=pricedb")
                .withBean(Prices.class)
                .run(context -> assertThat(mistakes(context))
                        .singleElement()
                        .satisfies(mistake -> assertThat(mistake.description()).startsWith("Limit 'price-db'")));
    }

    static class Prices {

        @VirtualThread("price-db")
        public CompletableFuture<String> price() {
            return CompletableFuture.completedFuture("1");
        }
    }

    static class Stock {

        @VirtualThread
        public CompletableFuture<String> wait(CompletableFuture<String> gate) {
            return gate;
        }

        @VirtualThread("none")
        public CompletableFuture<String> unlimited() {
            return CompletableFuture.completedFuture("1");
        }
    }
}
