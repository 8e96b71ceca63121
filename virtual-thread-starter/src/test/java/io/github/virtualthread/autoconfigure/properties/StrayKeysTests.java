package io.github.virtualthread.autoconfigure.properties;

import static io.github.virtualthread.autoconfigure.Contexts.mistakes;
import static io.github.virtualthread.autoconfigure.Contexts.setVariables;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.StandardEnvironment;

/** A key of a limit or a method that is nearly ours fails the start; one that is somebody else's does not. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
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
        "spring.virtual-thread.limits[partner.api].permits, virtual-thread.limits[partner.api].permits",
        "virtual-threads.methods[com.acme.Mailer.send].limit, virtual-thread.methods[com.acme.Mailer.send].limit",
        "virtual-threads.limits.report.within, virtual-thread.limits.report.within",
        "virtual-threads.limits.report.adapt.most, virtual-thread.limits.report.adapt.most",
        "virtual-threads.limits.report.key-weights.gold, virtual-thread.limits.report.key-weights.gold"
    })
    void aLimitOrMethodUnderAPrefixThatIsNearlyOursIsAMistake(String key, String meant) {
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
                        "spring.virtual-thread.limits.db.permits=20")))
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
        "VIRTUAL_THREADS_LIMITS_DB_ADAPT_RUN_TIME, VIRTUALTHREAD_LIMITS_DB_ADAPT_RUNTIME",
        "SPRING_VIRTUAL_THREAD_LIMITS_DB_MAX_WAIT, VIRTUALTHREAD_LIMITS_DB_MAXWAIT"
    })
    void aVariableOfALimitThatSpringBootDoesNotFindIsAMistake(String variable, String meant) {
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
                .withInitializer(StrayKeysTests::variablesFirst)
                .run(context -> assertThat(context.getBean(TaskLimits.class)
                                .get("price-db")
                                .permits())
                        .isEqualTo(30));
        environment("VIRTUAL_THREAD_DEFAULT_LIMIT", "none")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @ParameterizedTest
    @CsvSource({
        "virtual-threads.default-limit, virtual-thread.default-limit",
        "spring.virtual-threads.default-limit, virtual-thread.default-limit",
        "spring.virtual.threads.timeout, virtual-thread.timeout",
        "vitrual-thread.stuckAfter, virtual-thread.stuckAfter",
        "virtual-threads.async.executors.mail, virtual-thread.async.executors.mail"
    })
    void anyOtherKeyUnderThatPrefixIsIgnoredWithAWarning(String key, String meant, CapturedOutput output) {
        runner.withPropertyValues("virtual-thread.limits.db.permits=20", key + "=none")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).containsOnlyOnce(ignored(key, meant));
    }

    @ParameterizedTest
    @CsvSource({
        "VIRTUAL_THREADS_CLUSTER_LEASE, VIRTUALTHREAD_CLUSTER_LEASE",
        "VIRTUAL_THREADS_CLUSTER_JDBC_INITIALIZE_SCHEMA, VIRTUALTHREAD_CLUSTER_JDBC_INITIALIZESCHEMA",
        "SPRING_VIRTUAL_THREAD_STUCK_AFTER, VIRTUALTHREAD_STUCKAFTER",
        "VIRTUALTHREAD_CLUSTER_ON_FAILURE, VIRTUALTHREAD_CLUSTER_ONFAILURE",
        "VIRTUALTHREAD_STUCK_AFTER, VIRTUALTHREAD_STUCKAFTER",
        "virtual-threads.cluster.lease, VIRTUALTHREAD_CLUSTER_LEASE",
        "VIRTUAL_THREADS_SHUTDOWN_AWAIT_TERMINATION_PERIOD, VIRTUALTHREAD_SHUTDOWN_AWAITTERMINATIONPERIOD"
    })
    void anyOtherVariableUnderThatPrefixIsIgnoredWithAWarning(String variable, String meant, CapturedOutput output) {
        environment(variable, "20s")
                .withPropertyValues("virtual-thread.limits.db.permits=20")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).containsOnlyOnce(ignored(variable, meant));
    }

    @Test
    void allThatIsIgnoredIsOneWarning(CapturedOutput output) {
        environment("VIRTUAL_THREADS_TIMEOUT", "2s")
                .withPropertyValues(
                        "virtual-thread.limits.db.permits=20",
                        "virtual-threads.timeout=2s",
                        "virtual-threads.web.limit=db")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce("Ignored, because these are not properties of the virtual-thread starter")
                .contains(
                        "virtual-threads.timeout (did you mean virtual-thread.timeout?)",
                        "virtual-threads.web.limit (did you mean virtual-thread.web.limit?)",
                        "VIRTUAL_THREADS_TIMEOUT (did you mean VIRTUALTHREAD_TIMEOUT?)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"virtual-threads.timeout", "VIRTUAL_THREADS_THREAD_NAME_PREFIX"})
    void anApplicationThatSetsNothingOfOursIsNotWarned(String key, CapturedOutput output) {
        environment(key, "2s").withPropertyValues(key + "=2s").run(context -> assertThat(context)
                .hasNotFailed());

        assertThat(output).doesNotContain("Ignored");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "spring.threads.virtual.enabled",
                "spring.virtual-threads.enabled",
                "spring.virtual-thread-pool.timeout",
                "virtual-thread-pool.timeout",
                "virtual-host.timeout",
                "virtual-threads.enabled",
                "virtual.threads.enabled",
                "virtual-threads.pool-size",
                "virtual-threads.async",
                "virtual-threads.web",
                "virtual-threads.limits",
                "virtual-threads.limits.size",
                "virtual-threads.limits.db.max-concurrent",
                "virtual-threads.methods",
                "virtual-threads.methods.allowed",
                "virtual-threads",
                "virtual.enabled",
                "virtual.machine.timeout",
                "app.virtual-threads.enabled",
                "limits.db.permits",
                "limits.login.rate",
                "limits.permits",
                "limits.login.night.permits",
                "rate.limits.login.permits"
            })
    void aKeyOfSomebodyElseIsNoMistakeAndNoWarning(String key, CapturedOutput output) {
        runner.withPropertyValues(key + "=20")
                .run(context -> assertThat(context).hasNotFailed());
        runner.withPropertyValues("virtual-thread.limits.db.permits=20", key + "=20")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("Ignored");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "VIRTUAL_THREADS_ENABLED",
                "VIRTUAL_THREADS_SERVICE_HOST",
                "VIRTUAL_THREAD_PORT",
                "VIRTUAL_HOST",
                "LIMITS_DB_PERMITS",
                "VIRTUAL_THREADS_LIMITS_PERMITS",
                "VIRTUAL_THREADS_LIMITS_DB_SIZE"
            })
    void aVariableOfSomebodyElseIsNoMistakeAndNoWarning(String variable, CapturedOutput output) {
        environment(variable, "20").run(context -> assertThat(context).hasNotFailed());
        environment(variable, "20")
                .withPropertyValues("virtual-thread.limits.db.permits=20")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("Ignored");
    }

    @Test
    void theSwitchOfTheStarterMayBeAVariable() {
        environment("VIRTUAL_THREAD_ENABLED", "false").run(context -> assertThat(
                        context.getBean(VirtualThreadProperties.class).enabled())
                .isFalse());
    }

    /** The property of a source above the variables gives the limit a name that these do not match. */
    @ParameterizedTest
    @CsvSource({
        "VIRTUALTHREAD_LIMITS_DB_MAX_WAIT, VIRTUALTHREAD_LIMITS_DB_MAXWAIT",
        "VIRTUALTHREAD_LIMITS_DB_QUEUE_CAPACITY_PER_KEY, VIRTUALTHREAD_LIMITS_DB_QUEUECAPACITYPERKEY",
        "VIRTUALTHREAD_LIMITS_DB_ADAPT_RUN_TIME, VIRTUALTHREAD_LIMITS_DB_ADAPT_RUNTIME",
        "VIRTUALTHREAD_LIMITS_DB_PERMIT, VIRTUALTHREAD_LIMITS_DB_PERMITS",
        "VIRTUALTHREAD_LIMITS_PRICE_DB_MAXWAIT, VIRTUALTHREAD_LIMITS_PRICEDB_MAXWAIT",
        "VIRTUALTHREAD_LIMITS_PRICE_DB_MAX_WAIT, VIRTUALTHREAD_LIMITS_PRICEDB_MAXWAIT"
    })
    void aVariableOfALimitThatMatchesNoKeyIsIgnoredWithAWarning(String variable, String meant, CapturedOutput output) {
        environment(variable, "3s")
                .withPropertyValues("virtual-thread.limits.db.permits=20", "virtual-thread.limits.price-db.permits=20")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).containsOnlyOnce(ignored(variable, meant));
    }

    @Test
    void aVariableThatIsNearNothingIsIgnoredWithTheListOfAll(CapturedOutput output) {
        environment("VIRTUALTHREAD_LIMITS_DB_COLOUR", "red")
                .withPropertyValues("virtual-thread.limits.db.permits=20")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("VIRTUALTHREAD_LIMITS_DB_COLOUR (a limit has [PERMITS, PERMITSFROM, ");
    }

    @Test
    void aVariableThatIsFoundOrOverriddenOrOfAnotherLimitIsNoWarning(CapturedOutput output) {
        environment("VIRTUALTHREAD_LIMITS_DB_MAXWAIT", "3s")
                .withPropertyValues("virtual-thread.limits.db.permits=20", "virtual-thread.limits.db.max-wait=2s")
                .run(context -> assertThat(context).hasNotFailed());
        environment("VIRTUALTHREAD_LIMITS_DB_KEYWEIGHTS_GOLD", "3")
                .withPropertyValues(
                        "virtual-thread.limits.db.permits=20", "virtual-thread.limits.db.key-weights.gold=2")
                .run(context -> assertThat(context).hasNotFailed());
        environment("VIRTUALTHREAD_LIMITS_PARTNER_API_MAXWAIT", "3s")
                .withPropertyValues("virtual-thread.limits[partner.api].permits=20")
                .run(context -> assertThat(context).hasNotFailed());
        environment("VIRTUALTHREAD_LIMITS_DB_MAX_WAIT", "3s")
                .withSystemProperties("virtual-thread.limits.db.permits=20")
                .withInitializer(StrayKeysTests::variablesFirst)
                .run(context -> assertThat(
                                context.getBean(TaskLimits.class).get("db").maxWait())
                        .hasSeconds(3));

        assertThat(output).doesNotContain("Ignored");
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

    @Test
    void ofTwoPrefixesThatSpringBootFindsTheOtherOneIsIgnoredWithAWarning(CapturedOutput output) {
        environment(Map.of("VIRTUALTHREAD_LIMITS_DB_PERMITS", "20", "VIRTUAL_THREAD_LIMITS_DB_MAX_WAIT", "3s"))
                .run(context -> assertThat(
                                context.getBean(TaskLimits.class).get("db").maxWait())
                        .isNull());

        assertThat(output)
                .containsOnlyOnce(ignored("VIRTUAL_THREAD_LIMITS_DB_MAX_WAIT", "VIRTUALTHREAD_LIMITS_DB_MAXWAIT"));
    }

    private static String ignored(String key, String meant) {
        return "Ignored, because these are not properties of the virtual-thread starter: %s (did you mean %s?)."
                .formatted(key, meant);
    }

    /** So that variables override system properties, as they do a file. */
    private static void variablesFirst(ConfigurableApplicationContext context) {
        var sources = context.getEnvironment().getPropertySources();
        sources.addLast(sources.remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME));
    }

    private ApplicationContextRunner environment(String name, String value) {
        return environment(Map.of(name, value));
    }

    private ApplicationContextRunner environment(Map<String, Object> variables) {
        return runner.withInitializer(context -> setVariables(context.getEnvironment(), variables));
    }
}
