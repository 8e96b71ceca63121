package io.github.virtualthread.autoconfigure;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.limit.TaskLimits;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.actuate.autoconfigure.jdbc.DataSourceHealthContributorAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.jdbc.DataSourcePoolMetricsAutoConfiguration;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.autoconfigure.jdbc.JdbcTemplateAutoConfiguration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.PriorityOrdered;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

/** The switch virtual-thread.jdbc.cancel-statements, and what it leaves as it is. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class StatementsAutoConfigurationTests {

    private final ApplicationContextRunner plain = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class));
    private final ApplicationContextRunner off = plain.withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    DataSourceTransactionManagerAutoConfiguration.class,
                    JdbcTemplateAutoConfiguration.class))
            .withPropertyValues(
                    "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(),
                    "spring.datasource.hikari.maximum-pool-size=1",
                    "spring.datasource.hikari.pool-name=shop",
                    "virtual-thread.limits.db.permits-from=dataSource");
    private final ApplicationContextRunner on = off.withPropertyValues("virtual-thread.jdbc.cancel-statements=true");

    @Test
    void withoutTheSwitchNothingIsWrapped() {
        off.run(context -> {
            assertThat(context.getBean(HikariDataSource.class).getDataSource()).isNull();
            assertThat(context).doesNotHaveBean(StatementsSwitch.class);
        });
    }

    @Test
    void aTimeoutEndsTheStatementAndKeepsTheConnection(CapturedOutput output) {
        on.withBean(Queries.class).withBean(Outcomes.class).run(context -> {
            Queries queries = context.getBean(Queries.class);
            int session = queries.session().join();

            assertThat(queries.slow()).failsWithin(Duration.ofMinutes(2));

            assertThat(context.getBean(Outcomes.class).next()).isEqualTo(StatementOutcome.CANCELLED);
            assertThat(queries.session().join()).isEqualTo(session);
            // the body may end, and complete the future, before the thread that reports the timeout
            await().atMost(Duration.ofMinutes(2)).until(() -> output.getAll().contains("has timed out"));
        });
        assertThat(output.getAll().lines().filter(line -> line.contains(" WARN ")))
                .singleElement()
                .asString()
                .contains("Queries.slow has timed out");
    }

    @Test
    void thePoolKeepsItsClassItsPropertiesItsMetricsAndItsHealth() {
        on.withConfiguration(AutoConfigurations.of(
                        MetricsAutoConfiguration.class,
                        SimpleMetricsExportAutoConfiguration.class,
                        DataSourcePoolMetricsAutoConfiguration.class,
                        DataSourceHealthContributorAutoConfiguration.class))
                .withBean(NeedsTheClass.class)
                .run(context -> {
                    HikariDataSource pool = context.getBean(NeedsTheClass.class).pool();
                    assertThat(context.getBean(DataSource.class)).isSameAs(pool);
                    assertThat(HikariStatements.isCovered(pool)).isTrue();
                    assertThat(pool.getPoolName()).isEqualTo("shop");
                    assertThat(DataSourceUnwrapper.unwrap(pool, HikariDataSource.class))
                            .isSameAs(pool);
                    assertThat(context.getBean(TaskLimits.class).get("db").permits())
                            .isEqualTo(1);

                    assertThat(context.getBean(HealthIndicator.class).health().getStatus())
                            .isEqualTo(Status.UP);

                    MeterRegistry meters = context.getBean(MeterRegistry.class);
                    assertThat(meters.get("hikaricp.connections")
                                    .tag("pool", "shop")
                                    .gauge()
                                    .value())
                            .isEqualTo(1);
                    assertThat(meters.get("hikaricp.connections.acquire")
                                    .timer()
                                    .count())
                            .isPositive();
                    assertThat(meters.get("jdbc.connections.max").gauge().value())
                            .isEqualTo(1);
                });
    }

    /** As Flyway and Liquibase do for a user of their own. */
    @Test
    void aDataSourceIsDerivedFromThePool() {
        on.run(context -> {
            SimpleDriverDataSource derived = DataSourceBuilder.derivedFrom(context.getBean(DataSource.class))
                    .type(SimpleDriverDataSource.class)
                    .build();

            assertThat(new JdbcTemplate(derived).queryForObject("select 1", Integer.class))
                    .isEqualTo(1);
        });
    }

    @Test
    void severalPoolsOfTheApplicationAreCovered(CapturedOutput output) {
        on.withUserConfiguration(TwoPools.class)
                .withPropertyValues(
                        "virtual-thread.limits.db.permits-from=shop",
                        "shop.jdbc-url=jdbc:h2:mem:" + UUID.randomUUID(),
                        "shop.maximum-pool-size=3",
                        "report.jdbc-url=jdbc:h2:mem:" + UUID.randomUUID())
                .run(context -> {
                    assertThat(context.getBean("shop", HikariDataSource.class).getMaximumPoolSize())
                            .isEqualTo(3);
                    assertThat(context.getBeansOfType(HikariDataSource.class).values())
                            .hasSize(2)
                            .allMatch(HikariStatements::isCovered)
                            .allSatisfy(
                                    pool -> assertThat(new JdbcTemplate(pool).queryForObject("select 1", Integer.class))
                                            .isEqualTo(1));
                });
        assertThat(output).doesNotContain("not cancelled");
    }

    @Test
    void aPoolThatIsCreatedLaterIsCovered() {
        on.withPropertyValues("virtual-thread.limits.db.permits-from=", "virtual-thread.limits.db.permits=1")
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> {
                    assertThat(context.getBeanFactory().containsSingleton("dataSource"))
                            .isFalse();
                    assertThat(HikariStatements.isCovered(context.getBean(DataSource.class)))
                            .isTrue();
                });
    }

    @ParameterizedTest
    @ValueSource(classes = {NeededEarly.class, NeededEarlier.class, NeededFirst.class})
    void aPoolThatAnotherPostProcessorNeedsIsCovered(Class<?> needed) {
        on.withUserConfiguration(needed)
                .run(context -> assertThat(HikariStatements.isCovered(context.getBean(DataSource.class)))
                        .isTrue());
    }

    @ParameterizedTest
    @ValueSource(strings = {"TRUE", "on", "yes", "${there.is.none:true}"})
    void everySpellingOfTrueCounts(String value) {
        off.withPropertyValues("virtual-thread.jdbc.cancel-statements=" + value)
                .run(context -> assertThat(context).hasSingleBean(StatementsSwitch.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "off", "${there.is.none:false}"})
    void everySpellingOfFalseCounts(String value) {
        off.withPropertyValues("virtual-thread.jdbc.cancel-statements=" + value)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(StatementsSwitch.class));
    }

    @Test
    void anotherValueIsAMistake() {
        off.withPropertyValues("virtual-thread.jdbc.cancel-statements=maybe").run(context -> assertThat(
                        context.getStartupFailure())
                .hasMessageContaining("virtual-thread.jdbc.cancel-statements must be true or false, was 'maybe'"));
    }

    @Test
    void thePostProcessorOfTheApplicationIsEnough() {
        on.withUserConfiguration(OwnStatements.class).run(context -> {
            assertThat(context).hasSingleBean(HikariStatements.class).hasBean("ownStatements");
            assertThat(HikariStatements.isCovered(context.getBean(DataSource.class)))
                    .isTrue();
        });
    }

    @Test
    void anApplicationWithoutDataSourcesNeedsNeitherJdbcNorHikari(CapturedOutput output) {
        plain.withClassLoader(new FilteredClassLoader("org.springframework.jdbc", "com.zaxxer.hikari"))
                .withPropertyValues("virtual-thread.jdbc.cancel-statements=true")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("cancel");
    }

    @Test
    void sqlThatCannotBeShownIsLogged(CapturedOutput output) {
        off.withPropertyValues("virtual-thread.endpoint.sql=true")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce("virtual-thread.endpoint.sql shows only statements that can be cancelled."
                        + " Set virtual-thread.jdbc.cancel-statements=true");
    }

    @Test
    void sqlThatCanBeShownIsNotLogged(CapturedOutput output) {
        on.withPropertyValues("virtual-thread.endpoint.sql=true")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("endpoint.sql");
    }

    static class Queries {

        private final JdbcTemplate jdbc;

        Queries(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @VirtualThread(limit = "db", timeout = "200ms")
        public CompletableFuture<Void> slow() {
            jdbc.execute("select sum(a.x * b.x) from system_range(1, 10000000) a, system_range(1, 10000000) b");
            return completedFuture(null);
        }

        @VirtualThread("db")
        public CompletableFuture<Integer> session() {
            return completedFuture(jdbc.queryForObject("select session_id()", Integer.class));
        }
    }

    static class Outcomes implements TaskListener {

        private final BlockingQueue<StatementOutcome> outcomes = new LinkedBlockingQueue<>();

        @Override
        public void statementEnded(TaskCall call, StatementOutcome outcome) {
            outcomes.add(outcome);
        }

        StatementOutcome next() throws InterruptedException {
            return outcomes.poll(2, TimeUnit.MINUTES);
        }
    }

    record NeedsTheClass(HikariDataSource pool) {}

    @Configuration(proxyBeanMethods = false)
    static class TwoPools {

        @Bean(defaultCandidate = false)
        @ConfigurationProperties("report")
        HikariDataSource report() {
            return new HikariDataSource();
        }

        @Bean
        @ConfigurationProperties("shop")
        HikariDataSource shop() {
            return DataSourceBuilder.create().type(HikariDataSource.class).build();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnStatements {

        @Bean
        static HikariStatements ownStatements() {
            return new HikariStatements();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class EarlyPool {

        @Bean
        DataSource dataSource() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
            return pool;
        }
    }

    /** Before post-processors of beans are registered. */
    @Configuration(proxyBeanMethods = false)
    static class NeededEarly extends EarlyPool {

        @Bean
        static NeedsPool needsPool(BeanFactory beans) {
            return new NeedsPool(beans.getBean(DataSource.class));
        }
    }

    record NeedsPool(DataSource pool) implements BeanPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }
    }

    /** By one of the post-processors of which ours is one. */
    @Configuration(proxyBeanMethods = false)
    static class NeededEarlier extends EarlyPool {

        @Bean
        static BeanFactoryPostProcessor needsPool() {
            return beans -> beans.getBean(DataSource.class);
        }
    }

    /** By the first of them. */
    @Configuration(proxyBeanMethods = false)
    static class NeededFirst extends EarlyPool {

        @Bean
        static First needsPool() {
            return new First();
        }
    }

    static class First implements BeanFactoryPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return HIGHEST_PRECEDENCE;
        }

        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
            beans.getBean(DataSource.class);
        }
    }
}
