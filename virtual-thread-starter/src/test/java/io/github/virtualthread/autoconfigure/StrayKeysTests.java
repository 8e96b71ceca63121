package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.autoconfigure.Contexts.mistakes;
import static io.github.virtualthread.autoconfigure.Contexts.setVariables;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.StandardEnvironment;

/** A key that is nearly ours fails the start; one that is somebody else's does not. */
@Timeout(300)
class StrayKeysTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class));

    @ParameterizedTest
    @CsvSource({
        "virtual-threads.limits.db.permits, virtual-thread.limits.db.permits",
        "virtualThreads.limits.db.permits, virtual-thread.limits.db.permits",
        "virtual_threads.limits.db.permits, virtual-thread.limits.db.permits",
        "virtual.thread.limits.db.permits, virtual-thread.limits.db.permits",
        "virtual.threads.limits.db.permits, virtual-thread.limits.db.permits",
        "virtal-thread.limits.db.permits, virtual-thread.limits.db.permits",
        "vitrual-thread.stuckAfter, virtual-thread.stuckAfter",
        "spring.virtual-thread.limits[partner.api].permits, virtual-thread.limits[partner.api].permits",
        "spring.virtual-threads.default-limit, virtual-thread.default-limit",
        "spring.virtual.threads.timeout, virtual-thread.timeout",
        "virtual-threads.methods[com.acme.Mailer.send].limit, virtual-thread.methods[com.acme.Mailer.send].limit",
        "virtual-threads.limits.report.within, virtual-thread.limits.report.within",
        "limits.db.permits, virtual-thread.limits.db.permits",
        "limits[partner.api].permits-from, virtual-thread.limits[partner.api].permits-from"
    })
    void aPrefixThatIsNearlyOursIsAMistake(String key, String meant) {
        assertThat(mistakes(runner.withPropertyValues(key + "=20")))
                .containsExactly(new Mistake(
                        "%s is not a property of the virtual-thread starter (\"%s\" from property source \"test\")"
                                .formatted(key, key),
                        "Did you mean %s? All keys of the starter begin with virtual-thread.".formatted(meant)));
    }

    @Test
    void aPrefixIsReportedOnceHoweverManyKeysItHas() {
        assertThat(mistakes(runner.withPropertyValues(
                        "virtual-threads.limits.db.permits=20",
                        "virtual-threads.limits.db.max-wait=2s",
                        "virtual-threads.timeout=2s",
                        "spring.virtual-thread.timeout=2s")))
                .hasSize(2);
    }

    @ParameterizedTest
    @CsvSource({
        "VIRTUALTHREADS_LIMITS_DB_PERMITS, VIRTUALTHREAD_LIMITS_DB_PERMITS",
        "VIRTUAL_THREADS_LIMITS_PRICE_DB_MAX_WAIT, VIRTUALTHREAD_LIMITS_PRICEDB_MAXWAIT",
        "VIRTUAL_THREAD_LIMITS_DB_PERMITS, VIRTUALTHREAD_LIMITS_DB_PERMITS",
        "VIRTUAL_THREAD_LIMITS_DB_PERMITS_FROM, VIRTUALTHREAD_LIMITS_DB_PERMITSFROM",
        "VIRTUAL_THREAD_LIMITS_DB_PERMITS_PER_KEY, VIRTUALTHREAD_LIMITS_DB_PERMITSPERKEY",
        "VIRTUAL_THREADS_LIMITS_DB_QUEUE_CAPACITY_PER_KEY, VIRTUALTHREAD_LIMITS_DB_QUEUECAPACITYPERKEY",
        "VIRTUAL_THREADS_LIMITS_REPORT_WITHIN, VIRTUALTHREAD_LIMITS_REPORT_WITHIN",
        "VIRTUAL_THREADS_LIMITS_PARTNER_CLUSTER_PERMITS, VIRTUALTHREAD_LIMITS_PARTNER_CLUSTERPERMITS",
        "VIRTUAL_THREADS_CLUSTER_LEASE, VIRTUALTHREAD_CLUSTER_LEASE",
        "VIRTUAL_THREADS_CLUSTER_JDBC_INITIALIZE_SCHEMA, VIRTUALTHREAD_CLUSTER_JDBC_INITIALIZESCHEMA",
        "SPRING_VIRTUAL_THREAD_STUCK_AFTER, VIRTUALTHREAD_STUCKAFTER",
        "VIRTUAL_THREADS_SHUTDOWN_AWAIT_TERMINATION_PERIOD, VIRTUALTHREAD_SHUTDOWN_AWAITTERMINATIONPERIOD"
    })
    void aVariableThatSpringBootDoesNotFindIsAMistake(String variable, String meant) {
        assertThat(mistakes(environment(variable, "20")))
                .containsExactly(new Mistake(
                        "%s is not a property of the virtual-thread starter (\"%s\" from property source \"systemEnvironment\")"
                                .formatted(variable, variable),
                        "Did you mean %s? All keys of the starter begin with VIRTUALTHREAD.".formatted(meant)));
    }

    @Test
    void aVariableThatSpringBootFindsIsNoMistake() {
        environment("VIRTUAL_THREAD_LIMITS_PRICE_DB_PERMITS", "30")
                .withSystemProperties("virtual-thread.limits.price-db.permits=20")
                .withInitializer(context -> {
                    // so that variables override it, as they do a file
                    var sources = context.getEnvironment().getPropertySources();
                    sources.addLast(sources.remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME));
                })
                .run(context -> assertThat(context.getBean(TaskLimits.class)
                                .get("price-db")
                                .permits())
                        .isEqualTo(30));
        environment("VIRTUAL_THREAD_DEFAULT_LIMIT", "none")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring.threads.virtual.enabled",
                "spring.virtual-thread-pool.timeout",
                "virtual-thread-pool.timeout",
                "virtual-host.timeout",
                "virtual-threads.pool-size",
                "virtual-threads",
                "virtual.enabled",
                "virtual.machine.timeout",
                "app.virtual-threads.enabled",
                "limits.login.rate",
                "limits.permits",
                "limits.login.night.permits",
                "rate.limits.login.permits"
            })
    void aKeyOfSomebodyElseIsNoMistake(String key) {
        runner.withPropertyValues(key + "=20")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "VIRTUAL_THREADS_SERVICE_HOST",
                "VIRTUAL_THREAD_PORT",
                "VIRTUAL_HOST",
                "LIMITS_DB_PERMITS",
                "VIRTUAL_THREADS_LIMITS_PERMITS"
            })
    void aVariableOfSomebodyElseIsNoMistake(String variable) {
        environment(variable, "20").run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void aKeyThatTheApplicationBindsIsNoMistake() {
        runner.withUserConfiguration(OwnProperties.class)
                .withPropertyValues("virtual-threads.enabled=true", "limits.login.permits=20")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void aKeyThatAPlaceholderRefersToIsNoMistake() {
        runner.withPropertyValues(
                        "spring.virtual-threads.timeout=2s",
                        "virtual-thread.timeout=${spring.virtual-threads.timeout:3s}")
                .run(context -> assertThat(context).hasNotFailed());
        environment("VIRTUAL_THREAD_LIMITS_DB_PERMITS", "20")
                .withPropertyValues("virtual-thread.limits.database.permits=${VIRTUAL_THREAD_LIMITS_DB_PERMITS}")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void limitsAtTheRootAreSomebodyElsesWhereOursAreInTheirPlace() {
        runner.withPropertyValues("virtual-thread.limits.db.permits=20", "limits.login.permits=20")
                .run(context -> assertThat(context).hasNotFailed());
        runner.withBean(LimitSettings.class, () -> LimitSettings.of("db", 20))
                .withPropertyValues("limits.login.permits=20")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource({"my db, my-db", "db!, db", "a+b, a-b"})
    void aNameWithOtherCharactersIsAMistake(String name, String meant) {
        Mistake mistake = new Mistake(
                "Limit '%s': a name may contain only letters, digits, '-', '_' and '.', was '%s'".formatted(name, name),
                "Name it %s, as in virtual-thread.limits.%s.".formatted(meant, meant));

        assertThat(mistakes(runner.withPropertyValues(
                        "virtual-thread.limits." + name + ".permits=20",
                        "virtualThread.limits." + name + ".queue-capacity=20")))
                .containsExactly(mistake);
        assertThat(mistakes(runner.withPropertyValues("virtual-thread.limits[" + name + "].permits=20")))
                .containsExactly(mistake);
    }

    @Test
    void aNameWithOtherLettersStandsInBrackets() {
        runner.withPropertyValues("virtual-thread.limits[größe].permits=20")
                .run(context ->
                        assertThat(context.getBean(TaskLimits.class).names()).containsExactly("größe"));
    }

    private ApplicationContextRunner environment(String name, String value) {
        return runner.withInitializer(context -> setVariables(context.getEnvironment(), Map.of(name, value)));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableConfigurationProperties({OwnThreads.class, OwnLimits.class})
    static class OwnProperties {}

    @ConfigurationProperties("virtual-threads")
    record OwnThreads(boolean enabled) {}

    @ConfigurationProperties(prefix = "limits")
    record OwnLimits(Map<String, Map<String, String>> all) {}
}
