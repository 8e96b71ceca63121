package io.github.virtualthread.cluster.jdbc;

import static io.github.virtualthread.cluster.TestClaims.LONG;
import static io.github.virtualthread.cluster.TestClaims.claim;
import static java.sql.Connection.TRANSACTION_READ_COMMITTED;
import static java.sql.Connection.TRANSACTION_REPEATABLE_READ;
import static java.sql.Connection.TRANSACTION_SERIALIZABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.ClusterStore.Snapshot;
import io.github.virtualthread.cluster.StoredLimits;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the store does for members at the same time, with their connections. {@code StoredLimitsTests} has the rules of lending, in memory. */
public abstract class JdbcStoreContract extends JdbcTableContract {

    // Members at the same time

    @Test
    void thirtyMembersGetThroughThatClaimOneLimitAtOnce() throws Exception {
        int members = 30;
        try (HikariDataSource large = pool(TRANSACTION_READ_COMMITTED, members)) {
            StoredLimits shared = new StoredLimits(new JdbcClusterStore(large, "shop"));
            for (int round = 1; round <= 5; round++) {
                int last = round - 1;
                List<Answer> answers = together(
                        members, i -> shared.exchange(List.of(claim(LIMIT, "member-" + i, last + 1, last, 0, 0, LONG)))
                                .getFirst());

                assertThat(answers).extracting(Answer::refusal).containsOnlyNulls();
            }
            assertThat(shared.exchange(List.of(claim(LIMIT, "last", 0)))
                            .getFirst()
                            .others())
                    .hasSize(members);
        }
    }

    /** Wherever that is: before and after each of its statements, also in the first exchange of a limit. */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void aReplicaThatStandsStillStopsNobody(boolean isNew, boolean autoCommit) throws Exception {
        int boundary = 0;
        for (boolean stood = true; stood; boundary++) {
            String limit = "limit-" + boundary;
            if (!isNew) {
                add(store, limit, limit + "b");
            }
            stood = standsStill(boundary, autoCommit, limit, limit + "b");
            assertThat(sum(store, limit)).isEqualTo(isNew ? 2 : 3);
        }
        assertThat(boundary - 1).as("before three statements, and at the end").isGreaterThanOrEqualTo(4);
    }

    /** Returns whether an exchange has so many statements. */
    private boolean standsStill(int boundary, boolean autoCommit, String... limits) throws Exception {
        CompletableFuture<Boolean> stands = new CompletableFuture<>();
        CountDownLatch goesOn = new CountDownLatch(1);
        try (ExecutorService executor = Executors.newFixedThreadPool(2);
                Connection connection = connect()) {
            connection.setAutoCommit(autoCommit);
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterStore member = new JdbcClusterStore(watched.dataSource(), "shop");
            watched.between((done, next) -> {
                if (done == boundary && !next.equals("getConnection")) {
                    stands.complete(true);
                    goesOn.await();
                }
            });
            try {
                Future<Boolean> late = executor.submit(() -> {
                    try {
                        add(member, limits);
                        return true;
                    } finally {
                        stands.complete(false);
                    }
                });
                boolean stood = stands.get();

                executor.submit(() -> {
                            add(store, limits);
                            return true;
                        })
                        .get(1, TimeUnit.MINUTES);

                goesOn.countDown();
                late.get();
                return stood;
            } finally {
                goesOn.countDown();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {TRANSACTION_READ_COMMITTED, TRANSACTION_REPEATABLE_READ, TRANSACTION_SERIALIZABLE})
    void membersSeeWhatOthersCommittedWhateverTheIsolationOfThePool(int isolation) throws Exception {
        int additions = 30;
        try (HikariDataSource isolated = pool(isolation, THREADS)) {
            JdbcClusterStore members = new JdbcClusterStore(isolated, "shop");
            together(THREADS, i -> {
                for (int n = 0; n < additions; n++) {
                    add(members, LIMIT);
                }
                return true;
            });
        }

        assertThat(sum(store, LIMIT)).isEqualTo(THREADS * additions);
    }

    // Connections

    static Stream<Pool> pools() {
        return Stream.of(TRANSACTION_READ_COMMITTED, TRANSACTION_REPEATABLE_READ, TRANSACTION_SERIALIZABLE)
                .flatMap(isolation -> Stream.of(true, false).flatMap(autoCommit -> Stream.of(true, false)
                        .map(readOnly -> new Pool(isolation, autoCommit, readOnly))));
    }

    private record Pool(int isolation, boolean autoCommit, boolean readOnly) {

        static Pool of(Connection connection) throws SQLException {
            return new Pool(connection.getTransactionIsolation(), connection.getAutoCommit(), connection.isReadOnly());
        }

        void prepare(Connection connection) throws SQLException {
            connection.setTransactionIsolation(isolation);
            connection.setReadOnly(readOnly);
            connection.setAutoCommit(autoCommit);
        }
    }

    @ParameterizedTest
    @MethodSource("pools")
    void connectionsGoBackAsTheyCame(Pool before) throws Exception {
        try (Connection connection = connect()) {
            before.prepare(connection);
            Pool came = Pool.of(connection); // H2 has no connection for reading only
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterStore member = new JdbcClusterStore(watched.dataSource(), "shop");

            assertThat(member.isInitialized()).isTrue();
            member.initialize();
            add(member, LIMIT);
            assertThat(Pool.of(connection)).isEqualTo(came);

            watched.between((done, next) -> {
                if (next.equals("update")) {
                    throw new SQLException("broken");
                }
            });
            assertThatThrownBy(() -> add(member, LIMIT)).hasMessage("broken");
            assertThat(Pool.of(connection)).isEqualTo(came);
            assertThat(watched.closed()).isEqualTo(watched.lent()).isEqualTo(4);
            assertThat(sum(store, LIMIT)).isEqualTo(1);
        }
    }

    @Test
    void anExchangeHasOneStatementForAllLimitsAndOneForEach() throws Exception {
        try (Connection connection = connect()) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterStore member = new JdbcClusterStore(watched.dataSource(), "shop");
            add(member, "first"); // asks the database what it is
            watched.seen();

            add(member, "a", "b", "c");
            assertThat(watched.seen()).containsExactly("select", "insert", "insert", "insert");

            add(member, "a", "b", "c");
            assertThat(watched.seen()).containsExactly("select", "update", "update", "update");
        }
    }

    @Test
    void timeZonesDoNotMatter() throws Exception {
        List<Snapshot> snapshots = new ArrayList<>();
        for (String zone : List.of("+05:00", "-05:00")) {
            try (Connection connection = connect();
                    Statement statement = connection.createStatement()) {
                statement.execute(timeZone(zone));
                snapshots.add(read(
                        new JdbcClusterStore(new WatchedConnections(connection).dataSource(), "shop"), List.of(LIMIT)));
            }
        }

        long hour = TimeUnit.HOURS.toMillis(1);
        long first = snapshots.get(0).now();
        assertThat(snapshots.get(1).now() - first).isBetween(0L, hour);
        assertThat(first).isCloseTo(System.currentTimeMillis(), within(hour));
        assertThat(snapshots.get(1).server()).isEqualTo(snapshots.get(0).server());
    }
}
