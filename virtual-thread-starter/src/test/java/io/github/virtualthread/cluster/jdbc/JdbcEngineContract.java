package io.github.virtualthread.cluster.jdbc;

import static java.sql.Connection.TRANSACTION_READ_COMMITTED;
import static java.sql.Connection.TRANSACTION_REPEATABLE_READ;
import static java.sql.Connection.TRANSACTION_SERIALIZABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.ClusterEngineContract;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the engine has to do in each database, besides what all engines do. */
public abstract class JdbcEngineContract extends ClusterEngineContract {

    private static final int THREADS = 8;

    private HikariDataSource pool;
    private JdbcClusterEngine engine;
    private long number;

    /** Address of a database that other classes may use, too. */
    protected abstract String url();

    protected abstract String user();

    /** SQL that puts a session into a time zone. */
    protected abstract String timeZone(String zone);

    @Override
    protected final ClusterEngine engine() throws SQLException {
        pool = pool(TRANSACTION_READ_COMMITTED);
        engine = new JdbcClusterEngine(pool, "shop");
        engine.initialize();
        loseData();
        return engine;
    }

    @Override
    protected final void loseData() throws SQLException {
        execute("delete from virtual_thread_limit");
    }

    @AfterEach
    void closePool() {
        pool.close();
    }

    @Test
    void theTableIsMadeOnce() throws Exception {
        execute("drop table virtual_thread_limit");
        assertThat(engine.isInitialized()).isFalse();
        assertThatThrownBy(() -> engine.exchange(List.of(claim("a", 1)))).isInstanceOf(SQLException.class);

        engine.initialize();
        assertThat(engine.isInitialized()).isTrue();
        engine.exchange(List.of(claim("a", 1)));

        engine.initialize();
        assertThat(share(engine, "b", 10)).as("what is in it stays").isEqualTo(9);
    }

    @Test
    void replicasThatStartAtOnceMakeTheTableTogether() throws Exception {
        execute("drop table virtual_thread_limit");

        together(i -> {
            engine.initialize();
            return null;
        });

        assertThat(engine.isInitialized()).isTrue();
    }

    @Test
    void theStatementForTheTableIsThatOfTheDatabase() throws Exception {
        execute("drop table virtual_thread_limit");

        execute(engine.schema());

        assertThat(engine.isInitialized()).isTrue();
    }

    @Test
    void applicationsMayHaveOneTable() throws Exception {
        share(engine, "a", 10);

        JdbcClusterEngine other = new JdbcClusterEngine(pool, "Shop");

        assertThat(share(other, "b", 10)).isEqualTo(10);
        assertThat(answer(engine, "a", 10).others()).isEmpty();
    }

    @Test
    void limitsThatNobodyClaimsAreForgotten() throws Exception {
        String partner = answer(engine, "a", 1).epoch();
        engine.exchange(List.of(new Claim("fax", "b", 1, "", 10, 0, 1, 1, SHORT)));
        String fax = epoch("fax");
        pass(SHORT.multipliedBy(2));

        engine.forget(LONG);
        assertThat(epoch("fax")).as("not idle for so long").isEqualTo(fax);
        pass(SHORT.multipliedBy(2));

        engine.forget(SHORT);
        assertThat(epoch("fax")).isNotEqualTo(fax);
        assertThat(epoch("partner")).as("has a living member").isEqualTo(partner);
    }

    /** Of a limit, by a member that does not stay. */
    private String epoch(String limit) throws Exception {
        return engine.exchange(List.of(new Claim(limit, "visitor", ++number, "", 10, 0, 0, 0, Duration.ZERO)))
                .getFirst()
                .epoch();
    }

    @Test
    void keysMayEndWithSpaces() throws Exception {
        List<Claim> claims = Stream.of("a:k", "a:k ", "a:K", "a:k" + "x".repeat(300))
                .map(limit -> new Claim(limit, "a", 1, "", 10, 0, 10, 10, LONG))
                .toList();

        assertThat(engine.exchange(claims)).extracting(Answer::share).containsOnly(10);
    }

    @Test
    void allGetThroughThatAreTheFirstToClaimALimit() throws Exception {
        for (int round = 0; round < 20; round++) {
            String limit = "limit-" + round;
            List<Answer> answers =
                    together(i -> engine.exchange(List.of(new Claim(limit, "member-" + i, 1, "", 10, 0, 2, 2, LONG)))
                            .getFirst());

            assertThat(answers)
                    .extracting(Answer::epoch)
                    .doesNotContainNull()
                    .containsOnly(answers.getFirst().epoch());
            assertThat(answers.stream().mapToInt(Answer::share).sum()).isEqualTo(10);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {TRANSACTION_READ_COMMITTED, TRANSACTION_REPEATABLE_READ, TRANSACTION_SERIALIZABLE})
    void membersSeeWhatOthersCommittedWhateverTheIsolationOfThePool(int isolation) throws Exception {
        try (HikariDataSource isolated = pool(isolation)) {
            JdbcClusterEngine members = new JdbcClusterEngine(isolated, "shop");
            together(i -> {
                int share = 0;
                for (int n = 1; n <= 30; n++) {
                    Answer answer = members.exchange(
                                    List.of(new Claim("partner", "member-" + i, n, "", 10, share, 4, n % 2 * 4, LONG)))
                            .getFirst();
                    int others = answer.others().stream()
                            .mapToInt(Answer.Other::holds)
                            .sum();
                    assertThat(answer.share() + others).isLessThanOrEqualTo(10);
                    share = n % 2 == 0 ? answer.share() : 0;
                }
                return null;
            });
        }
    }

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
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");

            assertThat(member.isInitialized()).isTrue();
            member.exchange(List.of(claim("a", 5)));
            assertThat(watched.seen()).last().isEqualTo("commit");
            assertThat(Pool.of(connection)).isEqualTo(came);

            assertThatThrownBy(() -> member.exchange(List.of(claim("a", 5)))).hasMessageContaining("'a'");
            assertThat(watched.seen()).last().isEqualTo("rollback");
            assertThat(Pool.of(connection)).isEqualTo(came);

            watched.afterLock(() -> {
                throw new SQLException("broken");
            });
            assertThatThrownBy(() -> member.exchange(List.of(claim("a", 6)))).hasMessage("broken");
            assertThat(watched.seen()).last().isEqualTo("rollback");
            assertThat(Pool.of(connection)).isEqualTo(came);
            assertThat(watched.closed()).isEqualTo(watched.lent()).isEqualTo(4);
            assertThat(share(engine, "b", 10)).as("locks are gone").isEqualTo(9);
        }
    }

    @Test
    void oneConnectionIsEnough() throws Exception {
        try (HikariDataSource small = pool(TRANSACTION_READ_COMMITTED, 1)) {
            JdbcClusterEngine member = new JdbcClusterEngine(small, "shop");

            member.initialize();

            assertThat(share(member, "a", 4)).isEqualTo(4);
        }
    }

    @Test
    void anExchangeHasFewStatementsHoweverManyLimits() throws Exception {
        try (Connection connection = connect()) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");

            member.exchange(five(1));
            assertThat(watched.seen()).containsExactly("select", "insert", "select", "insert", "commit");

            member.exchange(five(2));
            assertThat(watched.seen()).containsExactly("select", "select", "update", "commit");
        }
    }

    private static List<Claim> five(long number) {
        return IntStream.range(0, 5)
                .mapToObj(i -> new Claim("limit-" + i, "a", number, "", 10, 0, 1, 1, LONG))
                .toList();
    }

    @Test
    void theTimeIsTakenUnderTheLock() throws Exception {
        try (Connection connection = connect()) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");
            share(member, "a", 1);
            List<Long> times = new ArrayList<>();
            watched.afterLock(() -> {
                pass(SHORT);
                times.add(now(engine));
            });

            long now = answer(member, "a", 1).now();

            assertThat(times).singleElement().satisfies(time -> assertThat(now).isGreaterThanOrEqualTo(time));
        }
    }

    @Test
    void timeZonesDoNotMatter() throws Exception {
        List<Long> times = new ArrayList<>();
        for (String zone : List.of("+05:00", "-05:00")) {
            try (Connection connection = connect();
                    Statement statement = connection.createStatement()) {
                statement.execute(timeZone(zone));
                times.add(now(new JdbcClusterEngine(new WatchedConnections(connection).dataSource(), "shop")));
            }
        }

        assertThat(times.get(1) - times.get(0)).isBetween(0L, LONG.toMillis());
        assertThat(times.get(0)).isCloseTo(System.currentTimeMillis(), within(LONG.toMillis()));
    }

    private static org.assertj.core.data.Offset<Long> within(long millis) {
        return org.assertj.core.data.Offset.offset(millis);
    }

    private interface Member<T> {
        T run(int i) throws Exception;
    }

    /** Each on a thread of its own, all at once. */
    private static <T> List<T> together(Member<T> member) throws Exception {
        CyclicBarrier ready = new CyclicBarrier(THREADS);
        try (ExecutorService executor = Executors.newFixedThreadPool(THREADS)) {
            List<Callable<T>> all = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int index = i;
                all.add(() -> {
                    ready.await();
                    return member.run(index);
                });
            }
            List<T> results = new ArrayList<>();
            for (Future<T> each : executor.invokeAll(all)) {
                results.add(each.get());
            }
            return results;
        }
    }

    private Claim claim(String member, long number) {
        return new Claim("partner", member, number, "", 10, 0, 1, 1, LONG);
    }

    private int share(ClusterEngine engine, String member, int asks) throws Exception {
        return answer(engine, member, asks).share();
    }

    private Answer answer(ClusterEngine engine, String member, int asks) throws Exception {
        return engine.exchange(List.of(new Claim("partner", member, ++number, "", 10, 0, asks, asks, LONG)))
                .getFirst();
    }

    private long now(ClusterEngine engine) throws Exception {
        return engine.exchange(List.of(new Claim("time", "clock-" + ++number, number, "", 1, 0, 0, 0, LONG)))
                .getFirst()
                .now();
    }

    private HikariDataSource pool(int isolation) {
        return pool(isolation, THREADS);
    }

    private HikariDataSource pool(int isolation, int size) {
        HikariConfig settings = new HikariConfig();
        settings.setJdbcUrl(url());
        settings.setUsername(user());
        settings.setPassword("");
        settings.setMaximumPoolSize(size);
        settings.setMinimumIdle(0);
        settings.setConnectionTimeout(60_000);
        settings.setTransactionIsolation(Integer.toString(isolation));
        return new HikariDataSource(settings);
    }

    protected final Connection connect() throws SQLException {
        return DriverManager.getConnection(url(), user(), "");
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
