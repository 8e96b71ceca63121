package io.github.virtualthread.cluster.jdbc;

import static java.sql.Connection.TRANSACTION_READ_COMMITTED;
import static java.sql.Connection.TRANSACTION_REPEATABLE_READ;
import static java.sql.Connection.TRANSACTION_SERIALIZABLE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Answer.Other;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.test.ClusterStoreContract;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the engine has to do in each database. The rules of lending are those of the ledger that it stores; {@code MemoryEngineTests} has
 * all of them.
 */
public abstract class JdbcEngineContract extends ClusterStoreContract {

    private static final int THREADS = 8;
    private static final Duration MEDIUM = Duration.ofSeconds(1);

    private HikariDataSource pool;
    private JdbcClusterEngine engine;
    private long number = 10;

    /** Address of a database that other classes may use, too. */
    protected abstract String url();

    /** The one of H2, unless overridden. */
    protected String user() {
        return "sa";
    }

    /** SQL that puts a session into a time zone: in H2, unless overridden. */
    protected String timeZone(String zone) {
        return "set time zone '" + zone + "'";
    }

    @Override
    protected final ClusterEngine engine() throws SQLException {
        pool = pool(TRANSACTION_READ_COMMITTED, THREADS);
        engine = new JdbcClusterEngine(pool, "shop");
        engine.initialize();
        loseData();
        return engine;
    }

    @Override
    protected final void loseData() throws SQLException {
        execute("delete from virtual_thread_limit");
    }

    @Override
    protected final Runnable backup() throws SQLException {
        Map<String, String> ledgers = ledgers();
        return () -> {
            try {
                loseData();
                for (Map.Entry<String, String> each : ledgers.entrySet()) {
                    execute(
                            "insert into virtual_thread_limit (version, ledger, cluster_name, limit_name)"
                                    + " values (1, ?, 'shop', ?)",
                            each.getValue(),
                            each.getKey());
                }
            } catch (SQLException failure) {
                throw new AssertionError(failure);
            }
        };
    }

    @Override
    protected boolean knowsItsServer() {
        return false;
    }

    /** It is the last word of the first line. */
    @Override
    protected final void changeServer() throws SQLException {
        for (String limit : ledgers().keySet()) {
            change(limit, text -> text.replaceFirst(" \\S+\\n", " another\n"));
        }
    }

    private void change(String limit, UnaryOperator<String> edit) throws SQLException {
        execute(
                "update virtual_thread_limit set ledger = ? where limit_name = ?",
                edit.apply(ledgers().get(limit)),
                limit);
    }

    final long number(String query) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** By the names of the limits. */
    private Map<String, String> ledgers() throws SQLException {
        Map<String, String> ledgers = new TreeMap<>();
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(
                        "select limit_name, ledger from virtual_thread_limit where cluster_name = 'shop' and version > 0")) {
            while (rows.next()) {
                ledgers.put(rows.getString(1), rows.getString(2));
            }
        }
        return ledgers;
    }

    @AfterEach
    void closePool() {
        pool.close();
    }

    // The table

    @Test
    void theTableIsMadeOnce() throws Exception {
        execute("drop table virtual_thread_limit");
        assertThat(engine.isInitialized()).isFalse();

        engine.initialize();
        assertThat(engine.isInitialized()).isTrue();
        answer(engine, "a", 1);

        engine.initialize();
        assertThat(answer(engine, "b", 10).others()).as("what is in it stays").hasSize(1);
    }

    @Test
    void replicasThatStartAtOnceMakeTheTableTogether() throws Exception {
        for (int round = 0; round < 10; round++) { // in the first one connections are opened, one after the other
            execute("drop table virtual_thread_limit");

            together(THREADS, i -> {
                engine.initialize();
                return true;
            });

            assertThat(engine.isInitialized()).isTrue();
        }
    }

    @Test
    void theStatementForTheTableIsThatOfTheDatabase() throws Exception {
        execute("drop table virtual_thread_limit");

        execute(engine.schema());

        assertThat(engine.isInitialized()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"shared_permits", "app.Shared_Permits_7"})
    void theTableMayHaveAnyNameAndASchema(String table) throws Exception {
        execute("create schema if not exists app");
        execute("drop table if exists " + table);
        JdbcClusterEngine other = new JdbcClusterEngine(pool, "shop", table);
        assertThat(other.isInitialized()).isFalse();
        assertThat(other.schema()).contains("create table if not exists " + table + " (");

        other.initialize();

        assertThat(other.isInitialized()).isTrue();
        answer(other, "a", 1);
        assertThat(answer(other, "b", 10).others()).hasSize(1);
        assertThat(answer(engine, "c", 1).others()).as("in the other table").isEmpty();
        execute("drop table " + table);
    }

    @Test
    void aTableInASchemaThatIsMissingIsMissing() throws Exception {
        assertThat(new JdbcClusterEngine(pool, "shop", "nowhere.virtual_thread_limit").isInitialized())
                .isFalse();
    }

    @Test
    void aTableThatIsDroppedLaterRefusesEachClaimUntilItIsBack() throws Exception {
        assertThat(answer(engine, "a", 4).share()).isPositive();
        execute("drop table virtual_thread_limit");

        List<Answer> answers = engine.exchange(List.of(claim("mail", "a", 1, 0, 4), claim("partner", "a", 2, 0, 4)));

        assertThat(answers).hasSize(2).allSatisfy(answer -> assertThat(answer.refusal())
                .startsWith("Table virtual_thread_limit is missing: it was dropped"));
        engine.initialize();
        assertThat(answer(engine, "a", 3).refusal()).isNull();
    }

    @Test
    void aTableWithOtherColumnsIsAnError() throws Exception {
        execute("drop table virtual_thread_limit");
        execute("create table virtual_thread_limit (cluster_name varchar(100), limit_name varchar(400), epoch int)");
        try {
            assertThatThrownBy(engine::isInitialized).isInstanceOf(SQLException.class);
        } finally {
            execute("drop table virtual_thread_limit");
        }
    }

    @Test
    void applicationsMayHaveOneTable() throws Exception {
        answer(engine, "a", 10);

        JdbcClusterEngine other = new JdbcClusterEngine(pool, "Shop");

        assertThat(answer(other, "b", 10).others()).isEmpty();
        assertThat(answer(engine, "c", 10).others()).extracting(Other::member).containsExactly("a");
    }

    @Test
    void namesMayEndWithSpacesAndBeLong() throws Exception {
        List<String> names = List.of("k", "k ", "K", "k" + "x".repeat(399));
        settle(engine, names.toArray(String[]::new));

        List<Answer> answers = engine.exchange(
                names.stream().map(name -> claim(name, "a", 1, 0, 10)).toList());

        assertThat(answers).extracting(Answer::share).containsOnly(10);
    }

    @Test
    void aLimitIsOneRow() throws Exception {
        answer(engine, "a", 1);
        answer(engine, "b", 1);
        engine.exchange(List.of(claim("mail", "a", 1, 0, 1)));

        assertThat(ledgers()).containsOnlyKeys("fax", "mail", "partner");
    }

    @Test
    void aMemberThatLeavesANewLimitLeavesNoRow() throws Exception {
        engine.exchange(List.of(new Claim(
                "new", "a", 1, 0, Duration.ZERO, Duration.ZERO, 10, 0, 0, 0, 0, Duration.ZERO, Duration.ZERO)));

        assertThat(ledgers()).doesNotContainKey("new");
    }

    @Test
    void aLedgerOfSomethingElseRefusesItsOwnClaimOnly() throws Exception {
        change("partner", text -> "something else");

        List<Answer> answers = engine.exchange(
                List.of(claim("mail", "a", 1, 0, 4), claim("partner", "a", 1, 0, 4), claim("fax", "a", 1, 0, 4)));

        assertThat(answers).extracting(Answer::share).containsExactly(4, 0, 4);
        assertThat(answers.get(1).refusal())
                .isEqualTo(
                        "Limit 'partner' cannot be lent: its ledger in table virtual_thread_limit of cluster 'shop' was not"
                                + " written by this version of the starter: 'something else'. Delete that row while no replica of"
                                + " another version runs");
        assertThat(ledgers()).containsEntry("partner", "something else");
    }

    // Members at the same time

    @Test
    void allGetThroughThatAreTheFirstToClaimALimit() throws Exception {
        for (int round = 0; round < 20; round++) {
            String limit = "limit-" + round;
            List<Answer> answers = together(THREADS, i -> engine.exchange(List.of(claim(limit, "member-" + i, 1, 0, 2)))
                    .getFirst());

            assertThat(answers).extracting(Answer::refusal).containsOnlyNulls();
            assertThat(answers.stream().mapToInt(Answer::share).sum()).isEqualTo(mayBeLost() ? 0 : 10);
            assertThat(engine.exchange(List.of(claim(limit, "last", 1, 0, 0)))
                            .getFirst()
                            .others())
                    .hasSize(THREADS);
        }
    }

    @Test
    void thirtyMembersGetThroughThatClaimOneLimitAtOnce() throws Exception {
        int members = 30;
        try (HikariDataSource large = pool(TRANSACTION_READ_COMMITTED, members)) {
            JdbcClusterEngine shared = new JdbcClusterEngine(large, "shop");
            for (int round = 1; round <= 5; round++) {
                int last = round - 1;
                List<Answer> answers = together(
                        members, i -> shared.exchange(List.of(claim("partner", "member-" + i, last + 1, last, 0)))
                                .getFirst());

                assertThat(answers).extracting(Answer::refusal).containsOnlyNulls();
                assertThat(answers).extracting(Answer::noGrowthFor).containsOnly(Duration.ZERO);
            }
            assertThat(answer(shared, "last", 0).others()).hasSize(members);
        }
    }

    @Test
    void aRowThatOthersChangeEachTimeRefusesItsOwnClaimOnly() throws Exception {
        try (Connection connection = connect()) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");
            watched.between((done, next) -> {
                if (done == 1 || (done > 1 && next.equals("update") && done < 40)) {
                    execute("update virtual_thread_limit set version = version + 1 where limit_name = 'partner'");
                }
            });

            List<Answer> answers =
                    member.exchange(List.of(claim("partner", "a", 1, 0, 4), claim("mail", "a", 1, 0, 4)));

            assertThat(answers.get(0).refusal())
                    .isEqualTo("Claim 1 of member 'a' for limit 'partner' was refused: in 20 attempts the row in table"
                            + " virtual_thread_limit of cluster 'shop' was changed by others each time. The next claim may find"
                            + " it free; if this is repeated, too many replicas share the limit: set"
                            + " virtual-thread.cluster.beat to more, or use Redis");
            assertThat(answers.get(1).share()).isEqualTo(4);
            assertThat(answer(engine, "b", 0).others()).isEmpty();
        }
    }

    /** The version is a part of the key, so a row that has been changed does not stand in the way of another one. */
    @Test
    void aLimitThatOthersHaveStoredAndChangedMeanwhileGetsNoSecondRow() throws Exception {
        try (Connection connection = connect()) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");
            loseData();
            watched.between((done, next) -> {
                if (done == 1 && ledgers().isEmpty()) {
                    answer(engine, "b", 7);
                    answer(engine, "c", 2);
                }
            });

            List<Answer> answers = member.exchange(List.of(claim("partner", "a", 1, 0, 4)));

            assertThat(answers.getFirst().others()).hasSize(2);
            assertThat(number("select count(*) from virtual_thread_limit where version > 0"))
                    .isEqualTo(1);
        }
    }

    @Test
    void aLimitWhoseRowAnOperatorDeletesIsNew() throws Exception {
        answer(engine, "b", 7);

        execute("delete from virtual_thread_limit where version > 0");

        assertThat(answer(engine, "c", 2).others()).isEmpty();
        assertThat(answer(engine, "d", 2).others()).hasSize(1);
    }

    /** Wherever that is: before and after each of its statements, also in the first exchange of a limit. */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void aReplicaThatStandsStillStopsNobody(boolean isNew, boolean autoCommit) throws Exception {
        int boundary = 0;
        for (boolean stood = true; stood; boundary++) {
            String limit = "limit-" + boundary;
            if (!isNew) {
                settle(engine, limit, limit + "b");
            }
            stood = standsStill(boundary, autoCommit, limit, limit + "b");
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
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");
            watched.between((done, next) -> {
                if (done == boundary && !next.equals("getConnection")) {
                    stands.complete(true);
                    goesOn.await();
                }
            });
            try {
                Future<List<Answer>> late = executor.submit(() -> {
                    try {
                        return member.exchange(claims("a", limits));
                    } finally {
                        stands.complete(false);
                    }
                });
                boolean stood = stands.get();

                List<Answer> answers = executor.submit(() -> engine.exchange(claims("b", limits)))
                        .get(1, TimeUnit.MINUTES);

                assertThat(answers).extracting(Answer::refusal).containsOnlyNulls();
                goesOn.countDown();
                List<Answer> answersOfLate = late.get();
                assertThat(answersOfLate).extracting(Answer::refusal).containsOnlyNulls();
                for (int i = 0; i < limits.length; i++) {
                    assertThat(answers.get(i).share() + answersOfLate.get(i).share())
                            .isLessThanOrEqualTo(10);
                }
                return stood;
            } finally {
                goesOn.countDown();
            }
        }
    }

    private static List<Claim> claims(String member, String... limits) {
        return Stream.of(limits).map(limit -> claim(limit, member, 1, 0, 7)).toList();
    }

    @Test
    void aConflictReadsItsLimitAgainAndNoOther() throws Exception {
        try (Connection connection = connect()) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");
            List<Long> times = new ArrayList<>();
            watched.between((done, next) -> {
                if (done == 1) {
                    pass(SHORT);
                    times.add(answer(engine, "b", 7).now());
                }
            });

            List<Answer> answers = member.exchange(
                    List.of(claim("mail", "a", 1, 0, 4), claim("partner", "a", 1, 0, 4), claim("fax", "a", 1, 0, 4)));

            assertThat(watched.seen()).containsExactly("select", "update", "update", "select", "update", "update");
            assertThat(answers).extracting(Answer::share).containsExactly(4, 3, 4);
            assertThat(answers.get(1).now()).as("the time is taken again").isGreaterThanOrEqualTo(times.getFirst());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"getConnection", "update"})
    void timeInTheExchangeIsNoStepOfTheClock(String where) throws Exception {
        try (Connection connection = connect()) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");
            answer(engine, "stays", 0);
            member.exchange(List.of(claim("partner", "a", 1, 0, 1, MEDIUM)));
            watched.between((done, next) -> {
                if (next.equals(where) && done < 2) {
                    pass(MEDIUM);
                    answer(engine, "b", 1);
                }
            });

            Answer answer = member.exchange(List.of(claim("partner", "a", 2, 1, 4, LONG)))
                    .getFirst();

            assertThat(answer.noGrowthFor()).isZero();
            assertThat(answer.share()).isEqualTo(4);
        }
    }

    /** No other member has claimed meanwhile, whose claim would show that the clock is right. */
    @Test
    void theWaitForAConnectionIsNoStepOfTheClock() throws Exception {
        try (Connection connection = connect()) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");
            member.exchange(List.of(claim("mail", "a", 1, 0, 1, MEDIUM)));
            watched.between((done, next) -> {
                if (next.equals("getConnection")) {
                    pass(MEDIUM);
                }
            });

            Answer answer =
                    member.exchange(List.of(claim("mail", "a", 2, 1, 4, LONG))).getFirst();

            assertThat(answer.noGrowthFor()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {TRANSACTION_READ_COMMITTED, TRANSACTION_REPEATABLE_READ, TRANSACTION_SERIALIZABLE})
    void membersSeeWhatOthersCommittedWhateverTheIsolationOfThePool(int isolation) throws Exception {
        try (HikariDataSource isolated = pool(isolation, THREADS)) {
            JdbcClusterEngine members = new JdbcClusterEngine(isolated, "shop");
            together(THREADS, i -> {
                int share = 0;
                for (int n = 1; n <= 30; n++) {
                    Answer answer = members.exchange(
                                    List.of(claim("partner", "member-" + i, n, n - 1, share, n % 2 * 4, LONG)))
                            .getFirst();
                    int others = answer.others().stream().mapToInt(Other::holds).sum();
                    assertThat(answer.refusal()).isNull();
                    assertThat(answer.share() + others).isLessThanOrEqualTo(10);
                    share = n % 2 == 0 ? answer.share() : 0;
                }
                return true;
            });
        }
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
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");

            assertThat(member.isInitialized()).isTrue();
            member.initialize();
            member.exchange(List.of(claim("partner", "a", 5, 0, 1)));
            assertThat(Pool.of(connection)).isEqualTo(came);

            Answer late =
                    member.exchange(List.of(claim("partner", "a", 5, 0, 1))).getFirst();
            assertThat(late.refusal()).contains("'a'");
            assertThat(Pool.of(connection)).isEqualTo(came);

            watched.between((done, next) -> {
                if (next.equals("update")) {
                    throw new SQLException("broken");
                }
            });
            assertThatThrownBy(() -> member.exchange(List.of(claim("partner", "a", 6, 5, 1))))
                    .hasMessage("broken");
            assertThat(Pool.of(connection)).isEqualTo(came);
            assertThat(watched.closed()).isEqualTo(watched.lent()).isEqualTo(5);
            assertThat(answer(engine, "b", 10).share()).isEqualTo(9);
        }
    }

    @Test
    void oneConnectionIsEnough() throws Exception {
        try (HikariDataSource small = pool(TRANSACTION_READ_COMMITTED, 1)) {
            JdbcClusterEngine member = new JdbcClusterEngine(small, "shop");

            member.initialize();

            assertThat(answer(member, "a", 4).share()).isEqualTo(4);
        }
    }

    @Test
    void anExchangeHasOneStatementForAllLimitsAndOneForEach() throws Exception {
        try (Connection connection = connect()) {
            WatchedConnections watched = new WatchedConnections(connection);
            JdbcClusterEngine member = new JdbcClusterEngine(watched.dataSource(), "shop");

            member.exchange(five(1));
            assertThat(watched.seen()).containsExactly("select", "insert", "insert", "insert", "insert", "insert");

            member.exchange(five(2));
            assertThat(watched.seen()).containsExactly("select", "update", "update", "update", "update", "update");
        }
    }

    private static List<Claim> five(long number) {
        return IntStream.range(0, 5)
                .mapToObj(i -> claim("limit-" + i, "a", number, number - 1, 1))
                .toList();
    }

    @Test
    void timeZonesDoNotMatter() throws Exception {
        List<Answer> answers = new ArrayList<>();
        for (String zone : List.of("+05:00", "-05:00")) {
            try (Connection connection = connect();
                    Statement statement = connection.createStatement()) {
                statement.execute(timeZone(zone));
                JdbcClusterEngine member =
                        new JdbcClusterEngine(new WatchedConnections(connection).dataSource(), "shop");
                answers.add(answer(member, "member " + zone, 1));
            }
        }

        long first = answers.get(0).now();
        assertThat(answers.get(1).now() - first).isBetween(0L, LONG.toMillis());
        assertThat(first).isCloseTo(System.currentTimeMillis(), within(LONG.toMillis()));
        assertThat(answers)
                .as("it is the same server")
                .extracting(Answer::noGrowthFor)
                .containsOnly(Duration.ZERO);
    }

    private interface Member<T> {
        T run(int i) throws Exception;
    }

    /** Each on a thread of its own, all at once. */
    private static <T> List<T> together(int members, Member<T> member) throws Exception {
        CyclicBarrier ready = new CyclicBarrier(members);
        try (ExecutorService executor = Executors.newFixedThreadPool(members)) {
            List<Callable<T>> all = new ArrayList<>();
            for (int i = 0; i < members; i++) {
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

    private static Claim claim(String limit, String member, long number, long last, int asks) {
        return claim(limit, member, number, last, asks, LONG);
    }

    private static Claim claim(String limit, String member, long number, long last, int asks, Duration lease) {
        return claim(limit, member, number, last, 0, asks, lease);
    }

    private static Claim claim(
            String limit, String member, long number, long last, int holds, int asks, Duration lease) {
        return new Claim(
                limit,
                member,
                number,
                last,
                Duration.ZERO,
                Duration.ZERO,
                10,
                0,
                holds,
                asks,
                asks,
                Duration.ZERO,
                lease);
    }

    private Answer answer(ClusterEngine engine, String member, int asks) throws Exception {
        return engine.exchange(List.of(claim("partner", member, ++number, 0, asks)))
                .getFirst();
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

    private void execute(String sql, String... parameters) throws SQLException {
        try (Connection connection = connect();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setString(i + 1, parameters[i]);
            }
            statement.execute();
        }
    }
}
