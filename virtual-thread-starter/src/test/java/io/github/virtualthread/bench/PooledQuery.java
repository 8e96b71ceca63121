package io.github.virtualthread.bench;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.jdbc.CancellableDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import org.h2.jdbcx.JdbcDataSource;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Borrows a connection of a pool and makes a query with three parameters, on a database in memory: the shortest there is. Measured
 * only if {@code -Dbench.include=PooledQuery} asks for it.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 1)
@Measurement(iterations = 4, time = 1)
@Fork(jvmArgsAppend = {"-Xms1g", "-Xmx1g"})
public class PooledQuery {

    private static final int QUERIES = 1000;

    /** The pool alone, and with statements that can be cancelled below it. */
    @Param({"pool", "cancellable"})
    public String source;

    private HikariDataSource pool;
    private JdbcTemplate jdbc;
    private Contender calls;
    private Contender callsByTemplate;

    @Setup
    public void prepare() {
        JdbcDataSource h2 = new JdbcDataSource();
        h2.setURL("jdbc:h2:mem:");
        pool = new HikariDataSource();
        pool.setMaximumPoolSize(1);
        pool.setDataSource(source.equals("pool") ? h2 : new CancellableDataSource(() -> h2));
        jdbc = new JdbcTemplate(pool);
        calls = Contender.of("ours", 1, this::queries);
        callsByTemplate = Contender.of("ours", 1, this::queriesByTemplate);
    }

    private int queries() throws SQLException {
        int sum = 0;
        for (int i = 0; i < QUERIES; i++) {
            sum += query(i);
        }
        return sum;
    }

    private int query(int number) throws SQLException {
        try (Connection connection = pool.getConnection();
                PreparedStatement statement = connection.prepareStatement("select ?, ?, ?")) {
            statement.setInt(1, number);
            statement.setString(2, "x");
            statement.setLong(3, 5);
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getInt(1);
            }
        }
    }

    /** As most applications make them. */
    private int queriesByTemplate() {
        int sum = 0;
        for (int i = 0; i < QUERIES; i++) {
            sum += jdbc.queryForObject("select ? + ? + ?", Integer.class, i, 2, 3);
        }
        return sum;
    }

    /** On a thread that nobody stops. */
    @Benchmark
    @OperationsPerInvocation(QUERIES)
    @Rows("source=pool,cancellable")
    public int outsideOfCalls() throws SQLException {
        return queries();
    }

    /** All in one call, which may be stopped. */
    @Benchmark
    @OperationsPerInvocation(QUERIES)
    @Rows("source=pool,cancellable")
    public Object withinACall() throws Exception {
        return calls.call().get();
    }

    @Benchmark
    @OperationsPerInvocation(QUERIES)
    @Rows("source=pool,cancellable")
    public int outsideOfCallsByTemplate() {
        return queriesByTemplate();
    }

    @Benchmark
    @OperationsPerInvocation(QUERIES)
    @Rows("source=pool,cancellable")
    public Object withinACallByTemplate() throws Exception {
        return callsByTemplate.call().get();
    }

    @TearDown
    public void end() {
        calls.end().run();
        callsByTemplate.end().run();
        pool.close();
    }
}
