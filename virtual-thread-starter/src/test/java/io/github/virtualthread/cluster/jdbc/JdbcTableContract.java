package io.github.virtualthread.cluster.jdbc;

import static java.sql.Connection.TRANSACTION_READ_COMMITTED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.ClusterStore;
import io.github.virtualthread.cluster.ClusterStore.Session;
import io.github.virtualthread.cluster.ClusterStore.Snapshot;
import io.github.virtualthread.cluster.ClusterStore.Text;
import io.github.virtualthread.test.ClusterStoreContract;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the store does with its table and its rows, in each database. */
public abstract class JdbcTableContract extends ClusterStoreContract {

    static final int THREADS = 8;
    static final String LIMIT = "partner";

    HikariDataSource pool;
    JdbcClusterStore store;

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
    protected final ClusterStore store() throws SQLException {
        pool = pool(TRANSACTION_READ_COMMITTED, THREADS);
        store = new JdbcClusterStore(pool, "shop");
        store.initialize();
        execute("delete from virtual_thread_limit");
        return store;
    }

    @AfterEach
    void closePool() {
        pool.close();
    }

    // The table

    @Test
    void theTableIsMadeOnce() throws Exception {
        execute("drop table virtual_thread_limit");
        assertThat(store.isInitialized()).isFalse();

        store.initialize();
        assertThat(store.isInitialized()).isTrue();
        add(store, LIMIT);

        store.initialize();
        assertThat(sum(store, LIMIT)).as("what is in it stays").isEqualTo(1);
    }

    @Test
    void replicasThatStartAtOnceMakeTheTableTogether() throws Exception {
        for (int round = 0; round < 10; round++) { // in the first one connections are opened, one after the other
            execute("drop table virtual_thread_limit");

            together(THREADS, i -> {
                store.initialize();
                return true;
            });

            assertThat(store.isInitialized()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shared_permits", "app.Shared_Permits_7"})
    void theTableMayHaveAnyNameAndASchema(String table) throws Exception {
        execute("create schema if not exists app");
        execute("drop table if exists " + table);
        JdbcClusterStore other = new JdbcClusterStore(pool, "shop", table);
        assertThat(other.isInitialized()).isFalse();
        assertThat(other.schema()).contains("create table if not exists " + table + " (");

        other.initialize();

        assertThat(other.isInitialized()).isTrue();
        add(other, LIMIT);
        assertThat(sum(other, LIMIT)).isEqualTo(1);
        assertThat(sum(store, LIMIT)).as("in the other table").isZero();
        execute("drop table " + table);
    }

    @Test
    void aTableInASchemaThatIsMissingIsMissing() throws Exception {
        assertThat(new JdbcClusterStore(pool, "shop", "nowhere.virtual_thread_limit").isInitialized())
                .isFalse();
    }

    @Test
    void aTableThatIsDroppedLaterIsNamedUntilItIsBack() throws Exception {
        add(store, LIMIT);
        execute("drop table virtual_thread_limit");

        assertThatThrownBy(() -> add(store, LIMIT))
                .isInstanceOf(SQLException.class)
                .hasMessageStartingWith("Table virtual_thread_limit is missing: it was dropped");

        store.initialize();
        add(store, LIMIT);
    }

    @Test
    void aTableWithOtherColumnsIsAnError() throws Exception {
        execute("drop table virtual_thread_limit");
        execute("create table virtual_thread_limit (cluster_name varchar(100), limit_name varchar(400), epoch int)");
        try {
            assertThatThrownBy(store::isInitialized).isInstanceOf(SQLException.class);
        } finally {
            execute("drop table virtual_thread_limit");
        }
    }

    @Test
    void applicationsMayHaveOneTable() throws Exception {
        add(store, LIMIT);

        JdbcClusterStore other = new JdbcClusterStore(pool, "Shop");

        assertThat(sum(other, LIMIT)).isZero();
        assertThat(sum(store, LIMIT)).isEqualTo(1);
    }

    @Test
    void namesMayEndWithSpacesAndBeLong() throws Exception {
        List<String> names = List.of("k", "k ", "K", "k" + "x".repeat(399));

        for (String name : names) {
            add(store, name);
        }

        assertThat(names).allSatisfy(name -> assertThat(sum(store, name)).isEqualTo(1));
    }

    // Rows

    /** The version is a part of the key, so a row that has been changed does not stand in the way of another one. */
    @Test
    void aLimitThatOthersHaveStoredAndChangedMeanwhileGetsNoSecondRow() throws Exception {
        try (Session late = store.open()) {
            assertThat(late.read(List.of(LIMIT)).texts()).isEmpty();
            add(store, LIMIT);
            add(store, LIMIT);

            assertThat(late.replace(Map.of(LIMIT, new Text(0, "1")))).isEqualTo(Map.of(LIMIT, ""));
        }

        assertThat(rows()).isEqualTo(1);
        assertThat(sum(store, LIMIT)).isEqualTo(2);
    }

    @Test
    void aLimitWhoseRowAnOperatorDeletesIsNew() throws Exception {
        add(store, LIMIT);

        execute("delete from virtual_thread_limit where version > 0");

        add(store, LIMIT);
        add(store, LIMIT);
        assertThat(sum(store, LIMIT)).isEqualTo(2);
    }

    private long rows() throws SQLException {
        return number("select count(*) from virtual_thread_limit where version > 0");
    }

    /** Adds one to the number of each limit, as an exchange does: again where another one was faster. */
    static void add(ClusterStore store, String... limits) throws Exception {
        List<String> left = List.of(limits);
        while (!left.isEmpty()) {
            try (Session session = store.open()) {
                Map<String, Text> read = session.read(left).texts();
                Map<String, String> failed = session.replace(
                        left.stream().collect(Collectors.toMap(limit -> limit, limit -> next(read.get(limit)))));
                assertThat(failed.values()).allMatch(String::isEmpty);
                left = List.copyOf(failed.keySet());
            }
        }
    }

    static Text next(Text before) {
        return before == null
                ? new Text(0, "1")
                : new Text(before.version(), Integer.toString(Integer.parseInt(before.text()) + 1));
    }

    static int sum(ClusterStore store, String limit) throws Exception {
        Text text = read(store, List.of(limit)).texts().get(limit);
        return text == null ? 0 : Integer.parseInt(text.text());
    }

    static Snapshot read(ClusterStore store, List<String> limits) throws Exception {
        try (Session session = store.open()) {
            return session.read(limits);
        }
    }

    interface Member<T> {
        T run(int i) throws Exception;
    }

    /** Each on a thread of its own, all at once. */
    static <T> List<T> together(int members, Member<T> member) throws Exception {
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

    HikariDataSource pool(int isolation, int size) {
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

    void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    final long number(String query) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getLong(1);
        }
    }
}
