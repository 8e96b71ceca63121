package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import javax.sql.DataSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;

/** An application with a pool of four connections and a limit that takes its permits from the pool. */
final class Shop implements AutoCloseable {

    static final int POOL = 4;
    static final Duration LONG = Duration.ofMinutes(4);

    final Database database;
    final ConfigurableApplicationContext context;
    final Queries queries;
    final Calls calls;
    final TaskLimit limit;
    final JdbcTemplate jdbc;

    private Shop(Database database, boolean web, List<String> properties) {
        this.database = database;
        context = new SpringApplicationBuilder(Application.class)
                .web(web ? WebApplicationType.SERVLET : WebApplicationType.NONE)
                .bannerMode(org.springframework.boot.Banner.Mode.OFF)
                .initializers(starting -> starting.getBeanFactory().registerSingleton("database", database))
                .run(properties.stream().map(each -> "--" + each).toArray(String[]::new));
        queries = context.getBean(Queries.class);
        calls = context.getBean(Calls.class);
        limit = context.getBean(TaskLimits.class).get("db");
        jdbc = context.getBean(JdbcTemplate.class);
        jdbc.execute("create table if not exists sold (number int)");
    }

    /** Statements are cancelled. */
    static Shop open(Database database, String... more) {
        return open(database, false, true, more);
    }

    /** Statements are cancelled, and the endpoint answers. */
    static Shop openWithEndpoint(Database database, String... more) {
        return open(database, true, true, more);
    }

    /** As without the property. */
    static Shop openInterrupting(Database database, String... more) {
        return open(database, false, false, more);
    }

    private static Shop open(Database database, boolean web, boolean cancelStatements, String... more) {
        List<String> properties = new ArrayList<>(List.of(
                "spring.datasource.url=" + database.url(),
                "spring.datasource.username=" + database.user,
                "spring.datasource.hikari.maximum-pool-size=" + POOL,
                "spring.datasource.hikari.connection-timeout=" + LONG.toMillis(),
                "spring.datasource.hikari.validation-timeout=" + LONG.toMillis() / 2,
                "spring.flyway.enabled=false",
                "spring.liquibase.enabled=false",
                "spring.data.jpa.repositories.enabled=false",
                "virtual-thread.limits.db.permits-from=dataSource",
                "server.port=0",
                "management.endpoints.web.exposure.include=virtualthreads",
                "management.endpoint.virtualthreads.access=unrestricted",
                "logging.level.root=warn"));
        if (cancelStatements) {
            properties.add("virtual-thread.jdbc.cancel-statements=true");
        }
        properties.addAll(List.of(more));
        return new Shop(database, web, properties);
    }

    /** Ends a call by the endpoint. */
    void delete(long id) throws Exception {
        URI call = URI.create("http://localhost:%s/actuator/virtualthreads/db?id=%d"
                .formatted(context.getEnvironment().getRequiredProperty("local.server.port"), id));
        HttpResponse<String> answer = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(call).DELETE().build(), HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) {
            throw new IllegalStateException(answer.statusCode() + " " + answer.body());
        }
    }

    void awaitAllPermits() {
        await().atMost(LONG)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> limit.available() == limit.permits() && limit.waiting() == 0);
    }

    /** The sessions that the pool has in the server, each tried, and with the settings of a new one. */
    Set<Long> sessions() throws SQLException {
        DataSource pool = context.getBean(DataSource.class);
        List<Connection> all = new ArrayList<>();
        Set<Long> numbers = new HashSet<>();
        try {
            for (int i = 0; i < POOL; i++) {
                Connection connection = pool.getConnection();
                all.add(connection);
                numbers.add(session(connection));
            }
        } finally {
            for (Connection connection : all) {
                connection.close();
            }
        }
        return numbers;
    }

    private long session(Connection connection) throws SQLException {
        assertThat(connection.getAutoCommit()).isTrue();
        assertThat(connection.isReadOnly()).isFalse();
        assertThat(connection.getTransactionIsolation())
                .isEqualTo(
                        database == Database.MARIADB
                                ? Connection.TRANSACTION_REPEATABLE_READ
                                : Connection.TRANSACTION_READ_COMMITTED);
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(database.session)) {
            row.next();
            return row.getLong(1);
        }
    }

    @Override
    public void close() {
        context.close();
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration(
            excludeName = {
                "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration",
                "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration"
            })
    @Import({Queries.class, Calls.class})
    static class Application {}
}
