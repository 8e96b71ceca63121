package io.github.virtualthread.docs;

import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.config.VirtualThreadDataSource;
import io.github.virtualthread.docs.StartUpChecksPageTests.Case;
import io.github.virtualthread.docs.StartUpChecksPageTests.Nothing;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** Mistakes in limits that all replicas share, each kind once. */
final class WrongCluster {

    private static final String LIMIT = "limits.partner.cluster-permits=20";
    private static final String NAME = "spring.application.name=shop";

    private WrongCluster() {}

    static Stream<Case> cases() {
        return Stream.concat(
                Stream.of(
                        wrong("cluster-no-engine", Nothing.class),
                        wrong("cluster-no-engine-of-two", Nothing.class, "limits.tenant.cluster-permits=5"),
                        wrong("cluster-none", Nothing.class, "cluster.engine=none"),
                        wrong("cluster-no-library", WithoutRedis.class, "cluster.engine=redis"),
                        wrong("cluster-no-connection", Nothing.class, NAME, "cluster.engine=redis"),
                        wrong("cluster-no-data-source", Nothing.class, NAME, "cluster.engine=jdbc"),
                        wrong("cluster-connections", TwoConnections.class, NAME),
                        wrong("cluster-data-sources", TwoDataSources.class, NAME),
                        wrong("cluster-own-data-sources", TwoOwnDataSources.class, NAME),
                        wrong("cluster-engines", TwoEngines.class),
                        wrong("cluster-name", H2.class),
                        wrong("cluster-table", H2.class, NAME, "cluster.jdbc.initialize-schema=never"),
                        wrong("cluster-database", OtherDatabase.class, NAME),
                        wrong("cluster-denied", Denied.class, NAME),
                        wrong("cluster-beat-of-engine", H2.class, NAME, "cluster.lease=2s")),
                Stream.of(
                        new Case("cluster-table-name", Nothing.class, "cluster.jdbc.table=my-schema.limits"),
                        new Case("cluster-lease", Nothing.class, "cluster.lease=500ms"),
                        new Case("cluster-lease-of-beats", Nothing.class, "cluster.lease=2s", "cluster.beat=500ms"),
                        new Case("cluster-beat", Nothing.class, "cluster.beat=1ms"),
                        new Case("cluster-replicas", Nothing.class, "cluster.replicas=0"),
                        new Case("cluster-no-replicas", Nothing.class, "cluster.replicas=three"),
                        new Case("cluster-other-engine", Nothing.class, "cluster.engine=hazelcast"),
                        wrong("cluster-other-on-failure", Nothing.class, "limits.partner.on-failure=local"),
                        wrong("more-than-cluster", Nothing.class, "limits.partner.permits=30"),
                        new Case("zero-cluster-permits", Nothing.class, "limits.tenant.cluster-permits=0"),
                        new Case(
                                "on-failure-alone",
                                Nothing.class,
                                "limits.db.permits=20",
                                "limits.db.on-failure=wait")));
    }

    private static Case wrong(String name, Class<?> type, String... keys) {
        List<String> all = new ArrayList<>(List.of(LIMIT));
        all.addAll(List.of(keys));
        return new Case(name, type, all.toArray(String[]::new));
    }

    /** Spring Data Redis is not on its classpath. */
    static class WithoutRedis {}

    @Configuration(proxyBeanMethods = false)
    static class TwoConnections {

        @Bean
        RedisConnectionFactory cache() {
            return mock(RedisConnectionFactory.class);
        }

        @Bean
        RedisConnectionFactory sessions() {
            return mock(RedisConnectionFactory.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoDataSources {

        @Bean
        DataSource orders() {
            return mock(DataSource.class);
        }

        @Bean
        DataSource stock() {
            return mock(DataSource.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoOwnDataSources {

        @Bean
        @VirtualThreadDataSource
        DataSource orders() {
            return mock(DataSource.class);
        }

        @Bean
        @VirtualThreadDataSource
        DataSource stock() {
            return mock(DataSource.class);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoEngines {

        @Bean
        ClusterEngine here() {
            return claims -> List.of();
        }

        @Bean
        ClusterEngine there() {
            return claims -> List.of();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class H2 {

        @Bean
        DataSource dataSource() {
            JdbcDataSource h2 = new JdbcDataSource();
            h2.setUrl("jdbc:h2:mem:");
            return h2;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OtherDatabase {

        @Bean
        DataSource dataSource() throws SQLException {
            DatabaseMetaData metaData = mock(DatabaseMetaData.class);
            when(metaData.getDatabaseProductName()).thenReturn("Oracle");
            Connection connection = mock(Connection.class);
            when(connection.getMetaData()).thenReturn(metaData);
            DataSource oracle = mock(DataSource.class);
            when(oracle.getConnection()).thenReturn(connection);
            return oracle;
        }
    }

    /** Its user may not read the table. */
    @Configuration(proxyBeanMethods = false)
    static class Denied {

        @Bean
        DataSource dataSource() throws SQLException {
            DatabaseMetaData metaData = mock(DatabaseMetaData.class);
            when(metaData.getDatabaseProductName()).thenReturn("PostgreSQL");
            Connection connection = mock(Connection.class);
            when(connection.getMetaData()).thenReturn(metaData);
            when(connection.createStatement())
                    .thenThrow(new SQLException("permission denied for table virtual_thread_limit", "42501"));
            DataSource postgres = mock(DataSource.class);
            when(postgres.getConnection()).thenReturn(connection);
            return postgres;
        }
    }
}
