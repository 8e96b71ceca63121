package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.ClusterStore;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.config.VirtualThreadDataSource;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.pool.PoolSizes;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.util.OptionalInt;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.stereotype.Component;

/** Limits that the database of the application lends permits to. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ClusterTableTests {

    private final JdbcDataSource h2 = h2();
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class, VirtualThreadClusterAutoConfiguration.class))
            .withBean(ClusterAutoConfigurationTests.Client.class)
            .withPropertyValues(
                    "spring.application.name=shop",
                    "virtual-thread.limits.partner.cluster-permits=20",
                    "virtual-thread.cluster.on-failure=wait");

    @Test
    void anEmbeddedDatabaseLendsWithoutFurtherWords() {
        runner.withBean(DataSource.class, () -> h2).run(context -> {
            context.getBean(ClusterAutoConfigurationTests.Client.class).call().join();

            TaskLimit limit = context.getBean(TaskLimits.class).get("partner");
            assertThat(limit.cluster().lending()).isEqualTo(Lending.LENT);
            assertThat(store(context)).isInstanceOf(JdbcClusterStore.class);
        });
    }

    @Test
    void theTableMayBeMadeBefore() throws SQLException {
        new JdbcClusterStore(h2, "other").initialize();
        runner.withBean(DataSource.class, () -> h2)
                .withPropertyValues("virtual-thread.cluster.jdbc.initialize-schema=never")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void anyDatabaseGetsTheTableIfAsked() throws SQLException {
        runner.withBean(DataSource.class, () -> h2)
                .withClassLoader(new FilteredClassLoader("org.springframework.jdbc"))
                .withPropertyValues("virtual-thread.cluster.jdbc.initialize-schema=always")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(new JdbcClusterStore(h2, "shop").isInitialized()).isTrue();
    }

    @Test
    void withoutSpringsJdbcNoDatabaseCountsAsEmbedded() {
        runner.withBean(DataSource.class, () -> h2)
                .withClassLoader(new FilteredClassLoader("org.springframework.jdbc"))
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageContaining("virtual_thread_limit is missing"));
    }

    @Test
    void aDatabaseThatCannotBeReachedDoesNotFailTheStart(CapturedOutput output) throws SQLException {
        DataSource away = mock(DataSource.class);
        when(away.getConnection()).thenThrow(new SQLTransientConnectionException("no answer"));
        runner.withBean(DataSource.class, () -> away)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("neither checked nor created: java.sql.SQLTransientConnectionException: no answer");
    }

    @Test
    void aPoolThatCannotBeginDoesNotFailTheStart(CapturedOutput output) throws SQLException {
        DataSource away = mock(DataSource.class);
        when(away.getConnection()).thenThrow(new IllegalArgumentException("pool cannot begin"));
        runner.withBean(DataSource.class, () -> away)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).contains("pool cannot begin");
    }

    @Test
    void redisComesFirst() {
        DataSource untouched = mock(DataSource.class);
        runner.withBean(DataSource.class, () -> untouched)
                .withBean(RedisConnectionFactory.class, () -> mock(RedisConnectionFactory.class))
                .run(context ->
                        assertThat(context.getBean(ClusterEngine.class)).isInstanceOf(RedisClusterEngine.class));
    }

    @Test
    void theApplicationMayChooseTheDatabase() {
        runner.withBean(DataSource.class, () -> h2)
                .withBean(RedisConnectionFactory.class, () -> mock(RedisConnectionFactory.class))
                .withPropertyValues("virtual-thread.cluster.engine=jdbc", "virtual-thread.cluster.name=shops")
                .run(context -> assertThat(store(context)).isInstanceOf(JdbcClusterStore.class));
    }

    @Test
    void aPoolWithRoomForTheEngineIsNotWarnedOf(CapturedOutput output) {
        runner.withBean("dataSource", DataSource.class, () -> h2)
                .withBean(PoolSizes.class, () -> source -> OptionalInt.of(10))
                .withPropertyValues(
                        "virtual-thread.limits.partner.permits=9",
                        "virtual-thread.limits.db.permits-from=dataSource",
                        "virtual-thread.limits.db.headroom=1")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("calls may hold all of them");
    }

    @Test
    void aPoolThatTheLimitTakesItsPermitsFromMayHaveMoreThanAllReplicas() {
        runner.withBean("dataSource", DataSource.class, () -> h2)
                .withBean(PoolSizes.class, () -> source -> OptionalInt.of(30))
                .withPropertyValues(
                        "virtual-thread.limits.partner.permits-from=dataSource",
                        "virtual-thread.limits.partner.headroom=1")
                .run(context -> {
                    TaskLimit limit = context.getBean(TaskLimits.class).get("partner");
                    assertThat(limit.permits()).isEqualTo(29);
                    assertThat(limit.clusterPermits()).isEqualTo(20);
                });
    }

    @ParameterizedTest
    @ValueSource(strings = {"app.shop_permits", " shop_permits "})
    void theTableMayHaveAnotherNameAndASchema(String table) throws SQLException {
        execute("create schema app");
        runner.withBean(DataSource.class, () -> h2)
                .withPropertyValues("virtual-thread.cluster.jdbc.table=" + table)
                .run(context -> {
                    context.getBean(ClusterAutoConfigurationTests.Client.class)
                            .call()
                            .join();

                    assertThat(lending(context)).isEqualTo(Lending.LENT);
                });

        assertThat(new JdbcClusterStore(h2, "shop", table.strip()).isInitialized())
                .isTrue();
        assertThat(new JdbcClusterStore(h2, "shop").isInitialized()).isFalse();
    }

    @Test
    void aBlankNameIsThatOfTheDefault() throws SQLException {
        runner.withBean(DataSource.class, () -> h2)
                .withPropertyValues("virtual-thread.cluster.jdbc.table=")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(new JdbcClusterStore(h2, "shop").isInitialized()).isTrue();
    }

    @Test
    void aMissingTableIsCalledByItsName() {
        runner.withBean(DataSource.class, () -> h2)
                .withPropertyValues(
                        "virtual-thread.cluster.jdbc.table=app.shop_permits",
                        "virtual-thread.cluster.jdbc.initialize-schema=never")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageContaining("the table app.shop_permits is missing in the database")
                        .hasMessageContaining("create table if not exists app.shop_permits ("));
    }

    @Test
    void aMissingSchemaFailsTheStart() {
        runner.withBean(DataSource.class, () -> h2)
                .withPropertyValues("virtual-thread.cluster.jdbc.table=app.shop_permits")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageContaining("the table app.shop_permits cannot be used or created: Schema \"APP\""));
    }

    @Test
    void aNameThatNoTableHasIsAMistakeEvenIfNoLimitIsShared() {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
                .withPropertyValues("virtual-thread.cluster.jdbc.table=shop permits")
                .run(context -> assertThat(context.getStartupFailure())
                        .hasMessageStartingWith("virtual-thread.cluster.jdbc.table must be the name of a table")
                        .hasMessageContaining("was 'shop permits'. Set virtual-thread.cluster.jdbc.table to"));
    }

    private static ClusterStore store(ApplicationContext context) {
        return ((StoredLimits) context.getBean(ClusterEngine.class)).store();
    }

    @ParameterizedTest
    @ValueSource(classes = {TwoPools.class, OwnPool.class, OwnPoolBesidePrimary.class})
    void aDataSourceForTheEngineAloneIsUsed(Class<?> pools) {
        runner.withUserConfiguration(pools).run(context -> {
            context.getBean(ClusterAutoConfigurationTests.Client.class).call().join();

            assertThat(lending(context)).isEqualTo(Lending.LENT);
            assertThat(((JdbcClusterStore) store(context)).dataSource()).isSameAs(context.getBean("forPermits"));
            assertThat(new JdbcClusterStore(context.getBean("dataSource", DataSource.class), "shop").isInitialized())
                    .as("in the database of the application")
                    .isFalse();
        });
    }

    @Test
    void aDataSourceForTheEngineAloneDoesNotReplaceThatOfTheApplication() {
        runner.withUserConfiguration(OwnPool.class)
                .run(context -> assertThat(context.getBean(DataSource.class)).isSameAs(context.getBean("dataSource")));
    }

    @Test
    void aDataSourceForTheEngineAloneDoesNotChooseTheEngine() {
        runner.withUserConfiguration(OwnPool.class)
                .withBean(RedisConnectionFactory.class, () -> mock(RedisConnectionFactory.class))
                .run(context ->
                        assertThat(context.getBean(ClusterEngine.class)).isInstanceOf(RedisClusterEngine.class));
    }

    private static Lending lending(ApplicationContext context) {
        return context.getBean(TaskLimits.class).get("partner").cluster().lending();
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = h2.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static JdbcDataSource h2() {
        JdbcDataSource h2 = new JdbcDataSource();
        h2.setUrl("jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID()));
        return h2;
    }

    /** None is primary. */
    @Configuration(proxyBeanMethods = false)
    static class TwoPools {

        @Bean
        DataSource dataSource() {
            return h2();
        }

        @Bean
        @VirtualThreadDataSource
        DataSource forPermits() {
            return h2();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnPool {

        @Bean
        DataSource dataSource() {
            return h2();
        }

        @Bean(defaultCandidate = false)
        @VirtualThreadDataSource
        DataSource forPermits() {
            return h2();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Annotated.class)
    static class OwnPoolBesidePrimary {

        @Bean
        @Primary
        DataSource dataSource() {
            return h2();
        }
    }

    @Component("forPermits")
    @VirtualThreadDataSource
    static class Annotated extends DelegatingDataSource {

        Annotated() {
            super(h2());
        }
    }
}
