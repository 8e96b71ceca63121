package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.jdbc.HikariStatements;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.sql.DataSource;
import net.ttddyy.dsproxy.support.ProxyDataSourceBuilder;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.SqlSession;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.transaction.jdbc.JdbcTransactionFactory;
import org.hibernate.HibernateException;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.Configuration;
import org.hibernate.engine.jdbc.connections.spi.MultiTenantConnectionProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A body changes its session, and cleans up in the end: the next borrower has a session without all that, whatever happens. */
@Timeout(600)
class SessionTests {

    private static final int POOL = 2;
    private static final Map<Database, Shop> shops = new EnumMap<>(Database.class);

    /** A database and its driver. */
    private enum Server {
        POSTGRES(Database.POSTGRES, "jdbc:postgresql:"),
        MARIADB(Database.MARIADB, "jdbc:mariadb:"),
        MARIADB_BY_THE_DRIVER_OF_MYSQL(Database.MARIADB, "jdbc:mysql:");

        final Database database;
        private final String begin;

        Server(Database database, String begin) {
            this.database = database;
            this.begin = begin;
        }

        String url() {
            return database.url().replaceFirst("jdbc:[a-z]+:", begin);
        }

        List<String> changes() {
            return database == Database.POSTGRES
                    ? List.of(
                            "select pg_advisory_lock_shared(42)",
                            "create temporary table scratch (x int)",
                            "set search_path to pg_catalog",
                            "set app.tenant = 'a'",
                            "set role tenants")
                    : List.of(
                            "set foreign_key_checks = 0",
                            "do get_lock(concat('lock', connection_id()), 0)",
                            "create temporary table scratch (x int)",
                            "lock tables sold read");
        }

        List<String> cleanUp() {
            return database == Database.POSTGRES
                    ? List.of(
                            "reset role",
                            "reset app.tenant",
                            "reset search_path",
                            "drop table scratch",
                            "select pg_advisory_unlock_shared(42)")
                    : List.of(
                            "unlock tables",
                            "drop temporary table scratch",
                            "do release_all_locks()",
                            "set foreign_key_checks = 1");
        }

        String state() {
            return database == Database.POSTGRES
                    ? "select current_user || coalesce(current_setting('app.tenant', true), '')"
                            + " || current_setting('search_path')"
                            + " || (select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid())"
                    : "select concat(@@foreign_key_checks, is_free_lock(concat('lock', connection_id())))";
        }

        String clean() {
            return database == Database.POSTGRES ? "postgres\"$user\", public0" : "ON1";
        }

        String slow() {
            return database.sleep("0", 30);
        }
    }

    private interface Sql {

        void run(String sql) throws Exception;
    }

    /** How a body sends its statements. */
    private enum Way {
        RAW_JDBC {
            @Override
            void run(Server server, HikariDataSource pool) throws Exception {
                onConnection(server, pool);
            }
        },
        JDBC_TEMPLATE {
            @Override
            void run(Server server, HikariDataSource pool) {
                new JdbcTemplate(pool).execute((ConnectionCallback<Void>) connection -> {
                    try (Statement statement = connection.createStatement()) {
                        body(server, statement::execute);
                    } catch (SQLException | RuntimeException failure) {
                        throw failure;
                    } catch (Exception failure) {
                        throw new IllegalStateException(failure);
                    }
                    return null;
                });
            }
        },
        TRANSACTION {
            @Override
            void run(Server server, HikariDataSource pool) {
                JdbcTemplate jdbc = new JdbcTemplate(pool);
                new TransactionTemplate(new JdbcTransactionManager(pool)).executeWithoutResult(status -> {
                    try {
                        body(server, jdbc::execute);
                    } catch (RuntimeException failure) {
                        throw failure;
                    } catch (Exception failure) {
                        throw new IllegalStateException(failure);
                    }
                });
            }
        },
        DATASOURCE_PROXY {
            @Override
            void run(Server server, HikariDataSource pool) throws Exception {
                onConnection(server, ProxyDataSourceBuilder.create(pool).build());
            }
        },
        MYBATIS {
            @Override
            void run(Server server, HikariDataSource pool) throws Exception {
                var configuration = new org.apache.ibatis.session.Configuration(
                        new Environment("test", new JdbcTransactionFactory(), pool));
                configuration.addMapper(Statements.class);
                try (SqlSession session =
                        new SqlSessionFactoryBuilder().build(configuration).openSession(true)) {
                    Statements statements = session.getMapper(Statements.class);
                    body(server, sql -> {
                        if (sql.startsWith("select")) {
                            statements.select(sql);
                        } else {
                            statements.update(sql);
                        }
                    });
                }
            }
        },
        /** The example of Hibernate's guide: a connection that cannot be cleaned up is not given back. */
        HIBERNATE {
            private SessionFactory factory;

            @Override
            void prepare(Server server, HikariDataSource pool) {
                Properties properties = new Properties();
                properties.put("hibernate.multi_tenant_connection_provider", new Tenants(server, pool));
                properties.put("hibernate.boot.allow_jdbc_metadata_access", false);
                properties.put(
                        "hibernate.dialect",
                        "org.hibernate.dialect."
                                + (server.database == Database.POSTGRES ? "PostgreSQLDialect" : "MariaDBDialect"));
                factory = new Configuration().addProperties(properties).buildSessionFactory();
            }

            @Override
            void run(Server server, HikariDataSource pool) {
                try (Session session =
                        factory.withOptions().tenantIdentifier((Object) "a").openSession()) {
                    session.beginTransaction();
                    session.createNativeQuery(server.slow(), Object.class).getResultList();
                }
            }
        };

        void prepare(Server server, HikariDataSource pool) {}

        abstract void run(Server server, HikariDataSource pool) throws Exception;

        private static void onConnection(Server server, DataSource pool) throws Exception {
            try (Connection connection = pool.getConnection();
                    Statement statement = connection.createStatement()) {
                body(server, statement::execute);
            }
        }

        private static void body(Server server, Sql sql) throws Exception {
            runAll(server.changes(), sql);
            try {
                sql.run(server.slow());
            } finally {
                runAll(server.cleanUp(), sql);
            }
        }

        private static void runAll(List<String> statements, Sql sql) throws Exception {
            for (String each : statements) {
                sql.run(each);
            }
        }
    }

    interface Statements {

        @Select("${sql}")
        Object select(String sql);

        @Update("${sql}")
        void update(String sql);
    }

    private record Tenants(Server server, HikariDataSource pool) implements MultiTenantConnectionProvider<Object> {

        @Override
        public Connection getAnyConnection() throws SQLException {
            return pool.getConnection();
        }

        @Override
        public void releaseAnyConnection(Connection connection) throws SQLException {
            connection.close();
        }

        @Override
        public Connection getConnection(Object tenant) throws SQLException {
            Connection connection = getAnyConnection();
            run(connection, server.changes());
            return connection;
        }

        @Override
        public void releaseConnection(Object tenant, Connection connection) throws SQLException {
            run(connection, server.cleanUp());
            connection.close(); // not reached after a failure
        }

        private static void run(Connection connection, List<String> statements) {
            try (Statement statement = connection.createStatement()) {
                for (String each : statements) {
                    statement.execute(each);
                }
            } catch (SQLException failure) {
                throw new HibernateException("Could not alter JDBC connection", failure);
            }
        }

        @Override
        public boolean supportsAggressiveRelease() {
            return false;
        }

        @Override
        public boolean isUnwrappableAs(Class<?> type) {
            return false;
        }

        @Override
        public <T> T unwrap(Class<T> type) {
            throw new IllegalArgumentException();
        }
    }

    private static Stream<Arguments> all() {
        return EnumSet.allOf(Server.class).stream()
                .flatMap(server -> EnumSet.allOf(Way.class).stream().map(way -> Arguments.of(server, way)));
    }

    @AfterAll
    static void closeShops() {
        shops.values().forEach(Shop::close);
    }

    private static Shop shop(Database database) {
        return shops.computeIfAbsent(database, each -> {
            Shop shop = Shop.open(each);
            if (each == Database.POSTGRES) {
                shop.jdbc.execute("create role tenants");
            }
            return shop;
        });
    }

    @ParameterizedTest(name = "{0}: {1}")
    @MethodSource("all")
    void theNextBorrowerSeesNothing(Server server, Way way) throws Exception {
        Shop shop = shop(server.database);
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(server.url());
            pool.setUsername(server.database.user);
            pool.setPassword("");
            pool.setMaximumPoolSize(POOL);
            pool.setConnectionTimeout(TimeUnit.MINUTES.toMillis(2));
            new HikariStatements().postProcessAfterInitialization(pool, "pool");
            assertThat(states(server, pool)).containsExactly(server.clean());

            way.prepare(server, pool);
            List<CompletableFuture<Void>> calls = IntStream.range(0, POOL)
                    .mapToObj(i -> call(shop, server, way, pool))
                    .toList();
            // all that changes a session has run: a timeout could pass before, on a slow machine
            await().atMost(Shop.LONG)
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> server.database.running("%/*0*/%") == POOL);
            calls.forEach(call -> assertThat(call.cancel(true)).isTrue());
            shop.awaitAllPermits();

            assertThat(states(server, pool)).containsExactly(server.clean());
            try (Connection other = server.database.connect();
                    Statement statement = other.createStatement()) {
                await().atMost(Shop.LONG).until(() -> server.database != Database.POSTGRES || !isLocked(statement));
                statement.setQueryTimeout(60);
                statement.execute("insert into sold values (1)"); // waits if the table is locked
                statement.execute("delete from sold");
            }
        }
    }

    private static CompletableFuture<Void> call(Shop shop, Server server, Way way, HikariDataSource pool) {
        try {
            return shop.queries.body(() -> {
                way.run(server, pool);
                return null;
            });
        } catch (Exception impossible) { // it comes through the future
            throw new IllegalStateException(impossible);
        }
    }

    /** A session that has been closed ends a moment later in the server. */
    private static boolean isLocked(Statement statement) throws SQLException {
        try (ResultSet row = statement.executeQuery("select 1 from pg_locks where locktype = 'advisory'")) {
            return row.next();
        }
    }

    /** Of all connections of the pool. */
    private static Set<String> states(Server server, HikariDataSource pool) throws SQLException {
        List<Connection> all = new ArrayList<>();
        Set<String> found = new HashSet<>();
        try {
            for (int i = 0; i < POOL; i++) {
                Connection connection = pool.getConnection();
                all.add(connection);
                try (Statement statement = connection.createStatement();
                        ResultSet row = statement.executeQuery(server.state())) {
                    row.next();
                    found.add(row.getString(1));
                }
            }
        } finally {
            for (Connection connection : all) {
                connection.close();
            }
        }
        return found;
    }
}
