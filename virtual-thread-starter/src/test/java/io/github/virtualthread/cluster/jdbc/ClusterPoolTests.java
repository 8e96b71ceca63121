package io.github.virtualthread.cluster.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.cluster.ClusterShares.Outcome;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.database.TestPostgres;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

/**
 * Three replicas whose calls use up the connections of the pool, of which their own limit is lent permits. Nothing is wrong with
 * the database.
 */
@Tag("slow")
@EnabledForJreRange(min = JRE.JAVA_25) // once: on Java 21 the rest of the package shows the same code
class ClusterPoolTests {

    private static final int REPLICAS = 3;
    private static final int PERMITS = 12;
    private static final int PART = PERMITS / REPLICAS;
    private static final int CONNECTIONS = PART; // of the pool of each
    private static final int CALLERS = 30;
    private static final Duration LEASE = Duration.ofSeconds(4);
    private static final Duration BEAT = Duration.ofMillis(200);
    private static final int LEASES = 3;
    private static final int GENERATIONS = 5;
    private static final long PATIENCE = TimeUnit.MINUTES.toNanos(4);
    private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(5); // before a condition is looked at again
    private static final AtomicInteger CLUSTERS = new AtomicInteger();

    private static EmbeddedPostgres postgres;

    private final List<Replica> replicas = new ArrayList<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    @BeforeAll
    static void startDatabase() throws IOException {
        postgres = TestPostgres.start();
    }

    @AfterAll
    static void stopDatabase() throws IOException {
        postgres.close();
    }

    @AfterEach
    void end(TestInfo test) throws SQLException {
        System.out.println(test.getDisplayName() + " most " + most + ", " + replicas);
        for (Replica replica : replicas) {
            replica.end();
        }
        assertThat(replicas).allSatisfy(replica -> assertThat(replica.failed).isEmpty());
        replicas.forEach(Replica::close);
    }

    /** Each has connections left for a moment, while the others have none. */
    @Test
    void noMoreThanThePermitsRunIfCallsUseUpThePool() throws Exception {
        open(false);
        share();
        replicas.forEach(Replica::takeConnections);
        await("all alone", replica -> replica.isWithoutConnections() && replica.is(Lending.ALONE));
        for (Replica replica : replicas) {
            replica.endCalls();
            await("lent", () -> replica.is(Lending.LENT));
            replica.takeConnections();
            await("lost again", () -> replica.isWithoutConnections() && replica.is(Lending.ALONE));
        }
        List<Integer> exchanges = exchanges(Outcome.SUCCESS);
        for (int i = 0; i < GENERATIONS; i++) {
            replaceCalls();
        }

        assertThat(most).as("calls at once").hasValueLessThanOrEqualTo(PERMITS);
        assertThat(replicas).as("they go on").allSatisfy(replica -> {
            assertThat(replica.limit.inUse()).isEqualTo(PART);
            assertThat(replica.is(Lending.ALONE)).isTrue();
        });
        assertThat(exchanges(Outcome.SUCCESS)).as("nobody reaches the database").isEqualTo(exchanges);
    }

    @Test
    void anEngineWithConnectionsOfItsOwnLosesNoLeaseIfCallsUseUpThePool() throws Exception {
        open(true);
        share();
        replicas.forEach(Replica::takeConnections);
        await("no connections", Replica::isWithoutConnections);
        List<Integer> before = exchanges(Outcome.SUCCESS);
        int more = (int) (LEASES * LEASE.dividedBy(BEAT));
        for (Replica replica : replicas) {
            int least = before.get(replicas.indexOf(replica)) + more;
            await("exchanges", () -> replica.exchanges(Outcome.SUCCESS) >= least);
        }
        await("no lease is lost", replica -> replica.isLentFor(LEASE.multipliedBy(LEASES)));

        assertThat(most).as("calls at once").hasValueLessThanOrEqualTo(PERMITS);
        assertThat(replicas).allSatisfy(replica -> {
            assertThat(replica.isWithoutConnections()).isTrue();
            assertThat(replica.limit.inUse()).isEqualTo(PART);
            assertThat(replica.lost).hasValue(0);
            assertThat(replica.exchanges(Outcome.ERROR)).isZero();
        });
    }

    private void open(boolean ownConnections) throws SQLException {
        String cluster = "shop-" + CLUSTERS.incrementAndGet();
        for (int id = 0; id < REPLICAS; id++) {
            replicas.add(new Replica(id, cluster, ownConnections));
        }
        for (Replica replica : replicas) {
            replica.load();
        }
    }

    /** Calls end, and leave all connections to the exchanges, until each replica has its part. */
    private void share() {
        await("parts", () -> {
            replicas.forEach(Replica::endCalls);
            return replicas.stream()
                    .allMatch(replica ->
                            replica.is(Lending.LENT) && replica.limit.lent() == PART && replica.limit.inUse() == PART);
        });
    }

    /** By as many as each may have. The connections stay away. */
    private void replaceCalls() {
        for (Replica replica : replicas) {
            replica.keeps = true;
            replica.endCalls();
        }
        await("calls", Replica::isBusy);
    }

    private List<Integer> exchanges(Outcome outcome) {
        return replicas.stream().map(replica -> replica.exchanges(outcome)).toList();
    }

    private void await(String what, Predicate<Replica> condition) {
        await(what, () -> replicas.stream().allMatch(condition));
    }

    private void await(String what, BooleanSupplier condition) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - begin > PATIENCE) {
                throw new AssertionError("not seen: " + what + "; " + replicas);
            }
            LockSupport.parkNanos(PAUSE);
        }
    }

    /** Calls that begin after the last one was over. */
    private static final class Phase {
        final CountDownLatch mayConnect = new CountDownLatch(1);
        final CountDownLatch over = new CountDownLatch(1);
        final AtomicInteger running = new AtomicInteger();

        void end() {
            over.countDown();
            mayConnect.countDown();
        }
    }

    /** All that an application has, without Spring. */
    private final class Replica implements AutoCloseable {

        final String name;
        final HikariDataSource pool;
        final HikariDataSource ofEngine;
        final TaskTimer timer = new TaskTimer("timer");
        final TaskLimits limits;
        final TaskLimit limit;
        final ClusterShares shares;
        final VirtualThreads threads;
        final AtomicInteger callers = new AtomicInteger();
        final AtomicInteger taken = new AtomicInteger(); // connections
        final AtomicInteger lost = new AtomicInteger();
        final AtomicIntegerArray exchanges = new AtomicIntegerArray(Outcome.values().length);
        final Queue<Throwable> failed = new ConcurrentLinkedQueue<>();
        final Queue<Connection> kept = new ConcurrentLinkedQueue<>();
        volatile boolean keeps; // the connections of calls that have ended
        volatile boolean ends;
        volatile Phase phase = new Phase();

        Replica(int id, String cluster, boolean ownConnections) throws SQLException {
            name = "replica-" + id;
            pool = pool(CONNECTIONS);
            ofEngine = ownConnections ? pool(2) : pool;
            JdbcClusterStore store = new JdbcClusterStore(ofEngine, cluster);
            store.initialize();
            StoredLimits engine = new StoredLimits(store);
            LimitSettings partner = LimitSettings.of("partner", PERMITS).withClusterPermits(PERMITS);
            limits = new TaskLimits(List.of(partner), timer, change -> {});
            limit = limits.get("partner");
            ClusterSettings settings = new ClusterSettings(name, LEASE, BEAT, OnFailure.LOCAL_SHARE, 3);
            shares = new ClusterShares(() -> engine, settings, timer);
            shares.listen(new ClusterShares.Listener() {
                @Override
                public void exchanged(Duration took, Outcome outcome) {
                    exchanges.incrementAndGet(outcome.ordinal());
                }

                @Override
                public void lost() {
                    lost.incrementAndGet();
                }
            });
            shares.add(limit);
            shares.start();
            ClassLoader loader = ClusterPoolTests.class.getClassLoader();
            TaskEngine tasks = new TaskEngine(
                    limits,
                    ContextPropagation.none(),
                    timer,
                    new TaskThreads("vt-", loader),
                    CallExtensions.NONE,
                    false);
            threads = Calls.byHand(tasks, (spec, failure) -> {});
        }

        private HikariDataSource pool(int connections) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(postgres.getJdbcUrl("postgres", "postgres"));
            config.setUsername("postgres");
            config.setMaximumPoolSize(connections);
            config.setConnectionTimeout(1_000);
            return new HikariDataSource(config);
        }

        /** Each caller calls again when its call has ended. */
        void load() {
            for (int i = 0; i < CALLERS; i++) {
                callers.incrementAndGet();
                submit();
            }
        }

        private void submit() {
            threads.submit("partner", () -> {
                        call();
                        return null;
                    })
                    .whenComplete((nothing, failure) -> {
                        if (failure != null) {
                            failed.add(failure);
                        }
                        if (ends || failure != null) {
                            callers.decrementAndGet();
                        } else {
                            submit();
                        }
                    });
        }

        /** Counts from its beginning, and not only when it has its connection. */
        private void call() throws SQLException, InterruptedException {
            Phase own = phase;
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            own.running.incrementAndGet();
            try {
                own.mayConnect.await();
                Connection connection = connection(own);
                own.over.await();
                if (connection != null && keeps) {
                    kept.add(connection);
                } else if (connection != null) {
                    taken.decrementAndGet();
                    connection.close();
                }
            } finally {
                own.running.decrementAndGet();
                running.decrementAndGet();
            }
        }

        /** Null if the call is over before there is one. */
        private @Nullable Connection connection(Phase own) throws SQLException {
            while (own.over.getCount() > 0) {
                try {
                    Connection connection = pool.getConnection();
                    taken.incrementAndGet();
                    return connection;
                } catch (SQLTransientConnectionException none) {
                    // other calls hold all of them
                }
            }
            return null;
        }

        /** Those that begin next have no connection yet. */
        void endCalls() {
            Phase before = phase;
            phase = new Phase();
            before.end();
        }

        /** For the calls that run. */
        void takeConnections() {
            phase.mayConnect.countDown();
        }

        /** Calls have all of them, and no exchange has one. */
        boolean isWithoutConnections() {
            return taken.get() == CONNECTIONS;
        }

        /** Its calls, none of which began before the last ones were to end, use all that it may use. */
        boolean isBusy() {
            int lent = limit.lent();
            return lent > 0 && limit.inUse() == lent && phase.running.get() == lent;
        }

        boolean is(Lending lending) {
            return cluster().lending() == lending;
        }

        boolean isLentFor(Duration time) {
            ClusterState state = cluster();
            return state.lending() == Lending.LENT && state.since().compareTo(time) > 0;
        }

        private ClusterState cluster() {
            return limit.cluster();
        }

        int exchanges(Outcome outcome) {
            return exchanges.get(outcome.ordinal());
        }

        /** No more calls; waits until all have ended. */
        void end() throws SQLException {
            ends = true;
            keeps = false;
            for (Connection connection : kept) {
                connection.close();
            }
            await("the end of all calls", () -> {
                endCalls();
                return callers.get() == 0;
            });
        }

        @Override
        public void close() {
            shares.stop();
            timer.close();
            ofEngine.close();
            pool.close();
        }

        @Override
        public String toString() {
            ClusterState state = cluster();
            return "%s %s: lent %d, in use %d, waiting %d, local share %d, exchanges %s, lost %s, members %s"
                    .formatted(
                            name,
                            state.lending(),
                            limit.lent(),
                            limit.inUse(),
                            limit.waiting(),
                            state.kept(),
                            exchanges,
                            lost,
                            state.members().stream()
                                    .map(member -> Integer.toString(member.holds()))
                                    .collect(Collectors.joining(" ")));
        }
    }
}
