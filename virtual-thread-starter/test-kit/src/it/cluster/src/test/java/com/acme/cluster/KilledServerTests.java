package com.acme.cluster;

import static io.github.virtualthread.cluster.TestApplication.until;
import static org.assertj.core.api.Assertions.assertThat;

import com.acme.servers.MariaDb;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.cluster.TestApplication;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** Three applications with one limit, and a MariaDB that is killed again and again. */
class KilledServerTests {

    private static final int PERMITS = 20;
    private static final int PARTS = 18; // 6 for each application
    private static final ClusterSettings SETTINGS =
            new ClusterSettings("shop", Duration.ofSeconds(1), Duration.ofMillis(100), OnFailure.LOCAL_SHARE, 3);

    private final List<TestApplication> replicas = new ArrayList<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private volatile boolean ends;

    @Test
    void aMariaDbThatIsKilledFourTimesExceedsNothing() throws Exception {
        MariaDb server = MariaDb.started();
        try (HikariDataSource pool = new HikariDataSource()) {
            pool.setJdbcUrl(server.url());
            pool.setUsername("root");
            JdbcClusterStore store = new JdbcClusterStore(pool, "shop");
            store.initialize();
            LimitSettings limit = LimitSettings.of("partner", PERMITS).withClusterPermits(PERMITS);
            for (int i = 0; i < 3; i++) {
                TestApplication replica = new TestApplication(new StoredLimits(store), SETTINGS, List.of(limit));
                replicas.add(replica);
                for (int caller = 0; caller < 60; caller++) {
                    callAgain(replica);
                }
            }
            await(Lending.LENT, PERMITS);
            for (int kill = 0; kill < 4; kill++) {
                server.kill();
                await(Lending.ALONE, PARTS);
                server.start();
                await(Lending.LENT, PERMITS);
            }

            assertThat(most).hasValue(PERMITS);
        } finally {
            ends = true;
            replicas.forEach(TestApplication::close);
            server.stop();
        }
    }

    private void callAgain(TestApplication replica) {
        replica.threads.submit("partner", this::call).whenComplete((nothing, failure) -> {
            if (!ends) {
                callAgain(replica);
            }
        });
    }

    private int call() {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
        return running.decrementAndGet();
    }

    private void await(Lending lending, int calls) {
        until(() -> running.get() == calls
                && replicas.stream()
                        .allMatch(replica -> replica.state("partner").lending() == lending));
    }
}
