package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.hibernate.LazyInitializationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.jdbc.core.JdbcTemplate;

/** JPA, Flyway and Liquibase on a pool whose statements are cancelled. */
@Timeout(600)
class PersistenceTests {

    private static final Duration LONG = Duration.ofMinutes(4);

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "H2"})
    void aStopEndsAQueryOfJpa(Database database) throws Exception {
        try (var context = start(
                database,
                "spring.datasource.hikari.maximum-pool-size=1",
                "spring.flyway.enabled=false",
                "spring.liquibase.enabled=false",
                "spring.jpa.hibernate.ddl-auto=create-drop")) {
            Catalog catalog = context.getBean(Catalog.class);
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            TaskLimit limit = context.getBean(TaskLimits.class).get("db");
            assertThat(catalog.tryMultiply())
                    .succeedsWithin(LONG)
                    .isEqualTo(0L); // and so the next does not begin slowly
            assertThat(catalog.fill()).succeedsWithin(LONG);
            Long session = jdbc.queryForObject(database.session, Long.class);

            CompletableFuture<Long> call = catalog.addAndMultiply();
            await().atMost(LONG).until(() -> database.runs("%product%product%product%"));
            assertThat(call.cancel(true)).isTrue();

            await().atMost(LONG).until(() -> limit.available() == limit.permits());
            assertThat(context.getBean(Outcomes.class).all).containsExactly(TaskListener.StatementOutcome.CANCELLED);
            assertThat(catalog.size()).succeedsWithin(LONG).isEqualTo(2000L); // the added one has been rolled back
            assertThat(jdbc.queryForObject(database.session, Long.class)).isEqualTo(session);
        }
    }

    @Test
    void whatTheBodyHasNotReadOfAnEntityCannotBeReadAfterTheFuture() throws Exception {
        try (var context = start(
                Database.H2,
                "spring.flyway.enabled=false",
                "spring.liquibase.enabled=false",
                "spring.jpa.hibernate.ddl-auto=create-drop")) {
            Catalog catalog = context.getBean(Catalog.class);
            assertThat(catalog.fill()).succeedsWithin(LONG);

            assertThat(catalog.find(1).get(4, TimeUnit.MINUTES).name()).isEqualTo("Tea cup 1");
            Product unread = catalog.refer(1).get(4, TimeUnit.MINUTES);
            assertThatThrownBy(unread::name).isInstanceOf(LazyInitializationException.class);
        }
    }

    /** From Spring Boot 4.1 on. It asks for one executor alone, and so fails if a library brings another. */
    @Test
    void jpaStartsOnTheExecutorOfTheApplication() throws Exception {
        try (var context = start(
                Database.H2,
                "spring.flyway.enabled=false",
                "spring.liquibase.enabled=false",
                "spring.jpa.bootstrap=async",
                "spring.jpa.hibernate.ddl-auto=create-drop")) {
            assertThat(context.getBeanNamesForType(Executor.class)).containsExactly("own");
            assertThat(context.getBean(Catalog.class).size())
                    .succeedsWithin(LONG)
                    .isEqualTo(0L);
        }
    }

    @Test
    void migrationsRunOnThePool() {
        try (var context = start(Database.H2, "spring.jpa.hibernate.ddl-auto=validate")) {
            assertMigrated(context);
        }
    }

    /** On data sources that Spring Boot derives from the pool. */
    @Test
    void migrationsRunForAUserOfTheirOwn() {
        try (var context = start(
                Database.H2,
                "spring.jpa.hibernate.ddl-auto=validate",
                "spring.flyway.user=sa",
                "spring.flyway.password=",
                "spring.liquibase.user=sa",
                "spring.liquibase.password=")) {
            assertMigrated(context);
        }
    }

    private static void assertMigrated(ConfigurableApplicationContext context) {
        HikariDataSource pool = context.getBean(HikariDataSource.class);
        JdbcTemplate jdbc = new JdbcTemplate(pool);
        assertThat(HikariStatements.isCovered(pool)).isTrue();
        assertThat(jdbc.queryForObject("select count(*) from brand", Long.class))
                .isZero();
        assertThat(jdbc.queryForObject("select count(*) from product", Long.class))
                .isZero();
        jdbc.execute("drop all objects");
    }

    private static ConfigurableApplicationContext start(Database database, String... more) {
        List<String> properties = new ArrayList<>(List.of(
                "spring.datasource.url=" + database.url(),
                "spring.datasource.username=" + database.user,
                "spring.jpa.open-in-view=false",
                "spring.flyway.locations=classpath:persistence/flyway",
                "spring.flyway.baseline-on-migrate=true",
                "spring.flyway.baseline-version=0",
                "spring.liquibase.change-log=classpath:persistence/liquibase.sql",
                "virtual-thread.limits.db.permits-from=dataSource",
                "virtual-thread.jdbc.cancel-statements=true",
                "logging.level.root=warn"));
        properties.addAll(List.of(more));
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run(properties.stream().map(each -> "--" + each).toArray(String[]::new));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    @Import({Catalog.class, Outcomes.class})
    static class Application {

        @Bean
        SimpleAsyncTaskExecutor own() {
            return new SimpleAsyncTaskExecutor("own-");
        }
    }

    static class Outcomes implements TaskListener {

        private final BlockingQueue<StatementOutcome> all = new LinkedBlockingQueue<>();

        @Override
        public void statementEnded(TaskCall call, StatementOutcome outcome) {
            all.add(outcome);
        }
    }
}
