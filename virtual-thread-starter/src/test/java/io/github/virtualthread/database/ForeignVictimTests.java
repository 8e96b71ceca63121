package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Short queries, of which half are cancelled at random moments: the others never fail, and never see wrong rows. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Tag("slow")
class ForeignVictimTests implements TaskListener {

    /**
     * As many as carriers. Threads that give connections back to HikariCP yield while another waits for one: as many of them as
     * there are carriers keep that from ever running (HikariCP#2398), and one of those that have a permit waits.
     */
    private static final int CONNECTIONS = Runtime.getRuntime().availableProcessors();

    private static final int CALLERS = 16;
    private static final int QUERIES_OF_A_CALL = 3;

    /** How many queries on each database. Longer by {@code -Dvictims.queries=200000}. */
    private static final int QUERIES = Integer.getInteger("victims.queries", 20_000);

    private final LongAdder reached = new LongAdder();
    private final List<Throwable> victims = new CopyOnWriteArrayList<>();

    @Test
    void postgres() throws Exception {
        try (EmbeddedPostgres postgres = TestPostgres.start()) {
            assertNoVictims(
                    postgres.getJdbcUrl("postgres", "postgres"),
                    "postgres",
                    "select count(*) from generate_series(1, ?) g",
                    3000,
                    "select pg_backend_pid()");
        }
    }

    @Test
    void h2() throws Exception {
        // without the condition, H2 knows the count without a look at the rows
        assertNoVictims(
                "jdbc:h2:mem:victims;DB_CLOSE_DELAY=-1",
                "sa",
                "select count(*) from system_range(1, ?) where mod(x, 2) >= 0",
                30_000,
                "select session_id()");
    }

    /** Queries of calls that are cancelled count up to so many rows that some are reached by their cancel, on a fast machine too. */
    private void assertNoVictims(String url, String user, String query, int mostRows, String connectionId)
            throws Exception {
        TaskTimer timer = new TaskTimer("timer");
        try (HikariDataSource pool = new HikariDataSource();
                timer;
                TaskEngine engine = engine(timer);
                ExecutorService callers = Executors.newFixedThreadPool(CALLERS)) {
            pool.setJdbcUrl(url);
            pool.setUsername(user);
            pool.setMaximumPoolSize(CONNECTIONS);
            pool.setConnectionTimeout(TimeUnit.MINUTES.toMillis(5));
            new HikariStatements().postProcessAfterInitialization(pool, "pool");
            List<Integer> before = connections(pool, connectionId);
            TaskSpec spec = engine.spec("Shop.price", "db");
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < CALLERS; i++) {
                Random random = new Random(i);
                done.add(callers.submit(() -> {
                    for (int j = 0; j < QUERIES / CALLERS / QUERIES_OF_A_CALL; j++) {
                        call(random, engine, spec, timer, pool, query, mostRows);
                    }
                    return null;
                }));
            }
            for (Future<?> caller : done) {
                caller.get();
            }
            assertThat(victims).isEmpty();
            assertThat(reached.sum()).as("cancels that came while a query ran").isPositive();
            // a body that is stopped between two queries ends its connection
            assertThat(connections(pool, connectionId)).doesNotHaveDuplicates().hasSameSizeAs(before);
        }
    }

    private TaskEngine engine(TaskTimer timer) {
        return new TaskEngine(
                new TaskLimits(List.of(LimitSettings.of("db", CONNECTIONS)), timer, change -> {}),
                ContextPropagation.none(),
                timer,
                "vt-",
                getClass().getClassLoader(),
                () -> List.of(this),
                List::of,
                false);
    }

    @Override
    public void statementEnded(TaskCall call, StatementOutcome outcome) {
        if (outcome == StatementOutcome.CANCELLED || outcome == StatementOutcome.COMPLETED) {
            reached.increment();
        }
    }

    private void call(
            Random random,
            TaskEngine engine,
            TaskSpec spec,
            TaskTimer timer,
            HikariDataSource pool,
            String query,
            int mostRows) {
        boolean cancelled = random.nextBoolean();
        int rows = 1 + random.nextInt(cancelled ? mostRows : 200);
        CompletableFuture<@Nullable Object> call = engine.submit(spec, () -> {
            try (Connection connection = pool.getConnection()) {
                for (int i = 0; i < QUERIES_OF_A_CALL; i++) {
                    assertThat(count(connection, query, rows)).isEqualTo(rows);
                }
            } catch (Throwable failure) {
                if (!cancelled) {
                    victims.add(failure);
                }
                throw failure;
            }
            return null;
        });
        if (cancelled) {
            Future<?> unused = timer.schedule(
                    () -> timer.handOff(() -> call.cancel(true)), TimeUnit.MICROSECONDS.toNanos(random.nextInt(4000)));
        }
        try {
            call.join();
        } catch (CancellationException expected) {
            assertThat(cancelled).isTrue();
        }
    }

    private static int count(Connection connection, String query, int rows) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query)) {
            statement.setInt(1, rows);
            try (ResultSet answer = statement.executeQuery()) {
                answer.next();
                return answer.getInt(1);
            }
        }
    }

    private static List<Integer> connections(HikariDataSource pool, String query) throws SQLException {
        List<Connection> all = new ArrayList<>();
        List<Integer> ids = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            Connection connection = pool.getConnection();
            all.add(connection);
            try (PreparedStatement statement = connection.prepareStatement(query);
                    ResultSet answer = statement.executeQuery()) {
                answer.next();
                ids.add(answer.getInt(1));
            }
        }
        for (Connection connection : all) {
            connection.close();
        }
        return ids;
    }
}
