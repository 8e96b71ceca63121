package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.execution.VirtualThreads;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Locale;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import javax.sql.DataSource;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Short queries, and random cancels of half of the calls: a cancel must not reach a query of another call on its connection. */
@Timeout(1200)
class ForeignVictimTests {

    private static final int CALLERS = 16;
    private static final int QUERIES_OF_A_CALL = 10;
    private static final int QUERIES = Integer.getInteger("short-queries", 20_000);
    private static final long LATEST_CANCEL = 4_000; // microseconds after the begin of the body

    private final LongAdder queries = new LongAdder();
    private final LongAdder cancels = new LongAdder();
    private final LongAdder failedAfterCancel = new LongAdder();
    private final Queue<String> victims = new ConcurrentLinkedQueue<>();
    private final Random random = new Random(1);
    private ScheduledExecutorService clock;

    @ParameterizedTest
    @EnumSource
    void noQueryOfACallThatNobodyCancelledFails(Database database) throws Exception {
        try (Shop shop = Shop.open(database);
                ScheduledExecutorService someClock = Executors.newScheduledThreadPool(2)) {
            clock = someClock;
            Set<Long> before = shop.sessions();
            long begin = System.nanoTime();
            Semaphore callers = new Semaphore(CALLERS);
            VirtualThreads threads = shop.context.getBean(VirtualThreads.class);
            int calls = 0;
            while (queries.sum() < QUERIES) {
                callers.acquire();
                calls++;
                Work work = new Work(shop, random, calls % 2 == 0);
                CompletableFuture<Void> future = threads.submit("db", work::run);
                work.future.complete(future);
                future.whenComplete((value, failure) -> callers.release());
            }
            callers.acquire(CALLERS);
            shop.awaitAllPermits();
            long seconds = (System.nanoTime() - begin) / 1_000_000_000;
            Set<Long> after = shop.sessions();
            System.out.printf(
                    Locale.ROOT,
                    "VICTIMS %s: %d calls, %d queries, %d cancels, %d calls failed after theirs, statements %s, foreign victims"
                            + " %d %s, sessions kept %d of 4, %d s%n",
                    database,
                    calls,
                    queries.sum(),
                    cancels.sum(),
                    failedAfterCancel.sum(),
                    shop.calls.outcomes(),
                    victims.size(),
                    victims.stream().limit(3).toList(),
                    after.stream().filter(before::contains).count(),
                    seconds);

            assertThat(victims).isEmpty();
            assertThat(shop.calls.outcomes().keySet())
                    .as("cancels that came while a query ran")
                    .containsAnyOf(StatementOutcome.CANCELLED, StatementOutcome.COMPLETED);
            assertThat(after).hasSize(Shop.POOL); // a body that is stopped between two queries ends its session
        }
    }

    private final class Work {

        private final Shop shop;
        private final boolean toBeCancelled;
        private final long after;
        private final List<Integer> rows;
        private final AtomicBoolean cancelled = new AtomicBoolean();
        final CompletableFuture<CompletableFuture<Void>> future = new CompletableFuture<>();

        /** Queries of calls that will be cancelled are longer, so that some cancels come in time. */
        Work(Shop shop, Random random, boolean toBeCancelled) {
            this.shop = shop;
            this.toBeCancelled = toBeCancelled;
            after = random.nextLong(LATEST_CANCEL);
            int most = toBeCancelled ? 20_000 : 100;
            rows = random.ints(QUERIES_OF_A_CALL, 1, most).boxed().toList();
        }

        Void run() throws SQLException {
            if (toBeCancelled) {
                clock.schedule(this::cancel, after, TimeUnit.MICROSECONDS);
            }
            try (Connection connection = shop.context.getBean(DataSource.class).getConnection()) {
                for (int each : rows) {
                    query(connection, each);
                }
            } catch (SQLException | RuntimeException failure) {
                if (cancelled.get()) {
                    failedAfterCancel.increment();
                } else {
                    victims.add(failure.toString());
                }
                throw failure;
            }
            return null;
        }

        private void cancel() {
            cancelled.set(true);
            cancels.increment();
            future.join().cancel(true);
        }

        private void query(Connection connection, int number) throws SQLException {
            queries.increment();
            try (PreparedStatement statement = connection.prepareStatement(sql())) {
                statement.setInt(1, number);
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    if (row.getInt(1) != number && !cancelled.get()) {
                        victims.add("%d instead of %d".formatted(row.getInt(1), number));
                    }
                }
            }
        }

        private String sql() {
            return switch (shop.database) {
                case POSTGRES -> "select count(*) from generate_series(1, ?)";
                case MARIADB -> "select count(*) from seq_1_to_100000 where seq <= ?";
                case H2 -> "select count(*) from system_range(1, ?) where mod(x, 2) < 2";
            };
        }
    }
}
