package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.metrics.IMetricsTracker;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A stop while HikariCP takes a connection back. What it calls then, after {@code clearWarnings}, is a counter of metrics. */
@Timeout(300)
class GivenBackTests {

    private static final Duration ENOUGH = Duration.ofMinutes(4);

    @RegisterExtension
    private final JdbcEngine test = new JdbcEngine();

    private final HikariDataSource pool = new HikariDataSource();
    private final CountDownLatch running = new CountDownLatch(1);
    private final CompletableFuture<@Nullable Void> stopped = new CompletableFuture<>();
    private final CompletableFuture<Boolean> flag = new CompletableFuture<>();
    private final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();

    private volatile @Nullable Connection usedMeanwhile;

    private final class Counter implements IMetricsTracker {

        @Override
        public void recordConnectionUsageMillis(long elapsed) {
            running.countDown();
            stopped.join(); // whatever interrupts
            use(usedMeanwhile);
            flag.complete(Thread.currentThread().isInterrupted());
        }
    }

    private static void use(@Nullable Connection connection) {
        try {
            if (connection != null) {
                connection.setReadOnly(false);
            }
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @BeforeEach
    void countConnections() {
        pool.setDataSource(new CancellableDataSource(new FakeDriver()::dataSource));
        pool.setMetricsTrackerFactory((name, statistics) -> new Counter());
    }

    @AfterEach
    void closePool() {
        pool.close();
    }

    private @Nullable Object awaitInterrupt() {
        try {
            FakeDriver.await(new CountDownLatch(1));
        } catch (InterruptedException stop) {
            interrupted.complete(true);
        }
        return null;
    }

    @Test
    void aStopMeanwhileInterruptsAfterwards() throws Exception {
        CompletableFuture<@Nullable Object> call = test.submit(() -> {
            pool.getConnection().close();
            return awaitInterrupt();
        });
        FakeDriver.await(running);

        call.cancel(true);
        stopped.complete(null);

        assertThat(flag).succeedsWithin(ENOUGH).isEqualTo(false);
        assertThat(interrupted).succeedsWithin(ENOUGH);
    }

    @Test
    void soDoesAStopBefore() throws Exception {
        CompletableFuture<@Nullable Object> call = test.submit(() -> {
            try (Connection connection = pool.getConnection()) {
                running.countDown();
                stopped.join();
                Thread.currentThread().interrupt(); // as is expected of a body that is stopped
            }
            return awaitInterrupt();
        });
        FakeDriver.await(running);

        call.cancel(true);
        stopped.complete(null);

        assertThat(flag).succeedsWithin(ENOUGH).isEqualTo(false);
        assertThat(interrupted).succeedsWithin(ENOUGH);
    }

    /** As {@code endRequest()} is with {@code com.zaxxer.hikari.enableRequestBoundaries}. */
    @Test
    void neitherDoesACallOfTheDriverThere() throws Exception {
        CompletableFuture<@Nullable Object> call = test.submit(() -> {
            try (Connection connection = pool.getConnection()) {
                usedMeanwhile = connection.unwrap(Connection.class);
                running.countDown();
                stopped.join();
            }
            return awaitInterrupt();
        });
        FakeDriver.await(running);

        call.cancel(true);
        stopped.complete(null);

        assertThat(flag).succeedsWithin(ENOUGH).isEqualTo(false);
        assertThat(interrupted).succeedsWithin(ENOUGH);
    }

    @Test
    void aBodyThatOutlivesTheApplicationIsInterruptedToo() throws Exception {
        CompletableFuture<@Nullable Object> unused = test.submit(() -> {
            pool.getConnection().close();
            return awaitInterrupt();
        });
        FakeDriver.await(running);

        test.close();
        stopped.complete(null);

        assertThat(flag).succeedsWithin(ENOUGH).isEqualTo(false);
        assertThat(interrupted).succeedsWithin(ENOUGH);
    }

    @Test
    void aStopAfterwardsInterruptsAtOnce() throws Exception {
        stopped.complete(null);
        CountDownLatch back = new CountDownLatch(1);
        CompletableFuture<@Nullable Void> cancelled = new CompletableFuture<>();
        CompletableFuture<@Nullable Object> call = test.submit(() -> {
            pool.getConnection().close();
            back.countDown();
            cancelled.join();
            return interrupted.complete(Thread.currentThread().isInterrupted());
        });
        FakeDriver.await(back);

        call.cancel(true);
        cancelled.complete(null);

        assertThat(interrupted).succeedsWithin(ENOUGH).isEqualTo(true);
    }
}
