package com.acme.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.acme.servers.MariaDb;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimits;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** Three applications with one limit, and a MariaDB that is killed again and again. */
class KilledServerTests {

    private static final int PERMITS = 20;
    private static final int PARTS = 18; // 6 for each application

    private static final AtomicInteger running = new AtomicInteger();
    private static final AtomicInteger most = new AtomicInteger();
    private static volatile boolean ends;

    @Configuration
    @EnableAutoConfiguration
    static class Application {

        @Bean
        HikariDataSource dataSource(@Value("${url}") String url) {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl(url);
            pool.setUsername("root");
            pool.setMaximumPoolSize(2);
            return pool;
        }

        @Bean
        JdbcClusterStore store(HikariDataSource pool) throws SQLException {
            JdbcClusterStore store = new JdbcClusterStore(pool, "shop");
            store.initialize();
            return store;
        }

        @Bean
        Partner partner() {
            return new Partner();
        }
    }

    static class Partner {

        @VirtualThread("partner")
        CompletableFuture<Void> call() {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
            running.decrementAndGet();
            return CompletableFuture.completedFuture(null);
        }
    }

    @Test
    void aMariaDbThatIsKilledFourTimesExceedsNothing() throws Exception {
        MariaDb server = MariaDb.started();
        List<ConfigurableApplicationContext> replicas = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                replicas.add(new SpringApplicationBuilder(Application.class)
                        .properties(
                                "url=" + server.url(),
                                "virtual-thread.limits.partner.cluster-permits=" + PERMITS,
                                "virtual-thread.cluster.replicas=3",
                                "virtual-thread.cluster.lease=1s",
                                "virtual-thread.cluster.beat=100ms")
                        .run());
                for (int caller = 0; caller < 60; caller++) {
                    callAgain(replicas.getLast().getBean(Partner.class));
                }
            }
            await(replicas, Lending.LENT, PERMITS);
            for (int kill = 0; kill < 4; kill++) {
                server.kill();
                await(replicas, Lending.ALONE, PARTS);
                server.start();
                await(replicas, Lending.LENT, PERMITS);
            }

            assertThat(most).hasValue(PERMITS);
        } finally {
            ends = true;
            replicas.forEach(ConfigurableApplicationContext::close);
            server.stop();
        }
    }

    private static void callAgain(Partner partner) {
        partner.call().whenComplete((nothing, failure) -> {
            if (!ends) {
                callAgain(partner);
            }
        });
    }

    private static void await(List<ConfigurableApplicationContext> replicas, Lending lending, int calls) {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
        while (running.get() != calls || !replicas.stream().allMatch(replica -> lending(replica) == lending)) {
            assertThat(System.nanoTime() - end).as("running: %s", running).isNegative();
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    private static Lending lending(ConfigurableApplicationContext replica) {
        return replica.getBean(TaskLimits.class).get("partner").cluster().lending();
    }
}
