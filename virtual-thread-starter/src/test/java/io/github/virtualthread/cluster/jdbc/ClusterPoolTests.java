package io.github.virtualthread.cluster.jdbc;

import static io.github.virtualthread.cluster.TestApplication.until;
import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.ClusterShares.Outcome;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.cluster.TestApplication;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A call that uses up the pool, of which its own limit is lent permits. Nothing is wrong with the database. */
@Tag("slow")
class ClusterPoolTests {

    private static final Duration LEASE = Duration.ofSeconds(1);
    private static final Duration BEAT = Duration.ofMillis(50);

    private final HikariDataSource pool = pool(1);
    private final CountDownLatch hasConnection = new CountDownLatch(1);
    private final CountDownLatch ends = new CountDownLatch(1);

    @AfterEach
    void closePool() {
        pool.close();
    }

    @Test
    void withoutAConnectionForTheEngineTheReplicaGoesOnAlone() throws Exception {
        try (TestApplication application = application(pool)) {
            CompletableFuture<Integer> call = application.threads.submit("partner", this::useThePool);
            hasConnection.await();
            until(() -> application.state("partner").lending() == Lending.ALONE);
            assertThat(application.exchanges(Outcome.ERROR)).isPositive();
            assertThat(application.limits.get("partner").lent()).isEqualTo(2);

            ends.countDown();

            call.get();
            until(() -> application.state("partner").lending() == Lending.LENT);
        }
    }

    @Test
    void anEngineWithConnectionsOfItsOwnLosesNoLease() throws Exception {
        try (HikariDataSource own = pool(2);
                TestApplication application = application(own)) {
            CompletableFuture<Integer> call = application.threads.submit("partner", this::useThePool);
            hasConnection.await();
            application.threads.submit("partner", () -> 1).get();

            until(() -> application.state("partner").since().compareTo(LEASE.multipliedBy(3)) > 0);

            assertThat(application.state("partner").lending()).isEqualTo(Lending.LENT);
            assertThat(application.exchanges(Outcome.ERROR)).isZero();
            ends.countDown();
            call.get();
        }
    }

    private int useThePool() throws SQLException, InterruptedException {
        try (Connection connection = pool.getConnection()) {
            hasConnection.countDown();
            ends.await();
            return 1;
        }
    }

    private static HikariDataSource pool(int connections) {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl("jdbc:h2:mem:pool;DB_CLOSE_DELAY=-1");
        pool.setUsername("sa");
        pool.setMaximumPoolSize(connections);
        return pool;
    }

    private static TestApplication application(HikariDataSource pool) throws SQLException {
        JdbcClusterStore store = new JdbcClusterStore(pool, "shop");
        store.initialize();
        return new TestApplication(
                new StoredLimits(store),
                new ClusterSettings("shop", LEASE, BEAT, OnFailure.LOCAL_SHARE, 2),
                List.of(LimitSettings.of("partner", 4).withClusterPermits(4)));
    }
}
