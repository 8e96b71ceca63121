package io.github.virtualthread.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.LimitSettings;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;

/**
 * Program: bodies that compute between their statements, as many at once as the pool has connections. A third is
 * cancelled while they run, so statements are refused, and each of these ends its connection: somebody always waits for one. Another
 * third is cancelled when they give their connection back.
 */
final class ComputingBodies {

    static final int CALLS = 6_000;
    private static final int CONNECTIONS = 4;
    private static final int CALLERS = 60;
    private static final long COMPUTES = TimeUnit.MILLISECONDS.toNanos(2);
    private static final long GIVES_BACK =
            TimeUnit.MICROSECONDS.toNanos(300); // as long as a connection may take to be given back
    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(60);

    private final JdbcEngine jdbc = new JdbcEngine(LimitSettings.of("db", CONNECTIONS));
    private final TaskSpec spec = jdbc.engine.spec("Shop.price", "db");
    private final HikariDataSource pool = new HikariDataSource();
    private final Random random = new Random(1);
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();

    private ComputingBodies() {
        JdbcDataSource h2 = new JdbcDataSource();
        h2.setUrl("jdbc:h2:mem:computing;DB_CLOSE_DELAY=-1");
        pool.setDataSource(new CancellableDataSource(() -> h2));
        pool.setMaximumPoolSize(CONNECTIONS);
    }

    public static void main(String[] args) {
        ComputingBodies program = new ComputingBodies();
        for (int i = 0; i < CALLERS; i++) {
            program.call();
        }
        int seen = -1;
        long since = System.nanoTime();
        while (seen < CALLS && System.nanoTime() - since < PATIENCE) {
            if (seen != program.ended.get()) {
                seen = program.ended.get();
                since = System.nanoTime();
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
        System.out.println("calls = " + seen);
        Runtime.getRuntime().halt(0); // threads that keep their carriers do not end
    }

    private void call() {
        if (begun.getAndIncrement() < CALLS) {
            CompletableFuture<CompletableFuture<?>> own = new CompletableFuture<>();
            own.complete(jdbc.engine.submit(spec, () -> body(own)));
        }
    }

    private @Nullable Object body(CompletableFuture<CompletableFuture<?>> own) throws SQLException {
        int kind = random.nextInt(3);
        if (kind == 1) {
            cancelWithin(3 * COMPUTES, own);
        }
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("select 1");
            compute();
            statement.execute("select 1");
            compute();
            if (kind == 2) {
                cancelWithin(GIVES_BACK, own);
            }
            return null;
        } finally {
            ended.incrementAndGet();
            call();
        }
    }

    private void cancelWithin(long nanos, CompletableFuture<CompletableFuture<?>> own) {
        CompletableFuture.delayedExecutor(random.nextLong(nanos), TimeUnit.NANOSECONDS)
                .execute(() -> own.join().cancel(true));
    }

    /** Whatever interrupts. */
    private static void compute() {
        long end = System.nanoTime() + COMPUTES;
        while (System.nanoTime() - end < 0) {
            Thread.onSpinWait();
        }
    }
}
