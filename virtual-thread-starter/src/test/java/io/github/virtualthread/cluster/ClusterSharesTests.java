package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.cluster.redis.RedisTestServer;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Replicas in one JVM, each with all of its own, by the clock of the machine. */
class ClusterSharesTests {

    private static final ClusterSettings FAST =
            new ClusterSettings("shop", Duration.ofMinutes(10), Duration.ofMillis(20), OnFailure.WAIT, null);

    private static final ClusterSettings SHORT =
            new ClusterSettings("shop", Duration.ofSeconds(1), Duration.ofMillis(20), OnFailure.LOCAL_SHARE, 2);

    private final List<TaskTimer> timers = new ArrayList<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    @AfterEach
    void closeTimers() {
        timers.forEach(TaskTimer::close);
    }

    @Test
    void callsOfAllReplicasAreNeverMoreThanThePermits() throws Exception {
        MemoryEngine memory = new MemoryEngine(false);
        callsOf(3, memory, LimitSettings.of("partner", 5).withClusterPermits(5), FAST);
        assertThat(memory.members("partner")).isEmpty();
    }

    @Tag("slow")
    @Test
    void callsOfThirtyReplicasByRedisAreNeverMoreThanThePermits() throws Exception {
        LettuceConnectionFactory connections = RedisTestServer.lettuce();
        try {
            ClusterEngine redis = new RedisClusterEngine(connections, "thirty");
            callsOf(30, redis, LimitSettings.of("partner", 20).withClusterPermits(20), SHORT);
        } finally {
            connections.destroy();
        }
    }

    private void callsOf(int count, ClusterEngine engine, LimitSettings limit, ClusterSettings settings)
            throws Exception {
        List<Replica> replicas = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            replicas.add(new Replica(engine, limit, settings));
        }
        List<CompletableFuture<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < 1_500 / count; i++) {
            for (Replica replica : replicas) {
                calls.add(replica.threads.submit("partner", this::work));
            }
        }
        CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(5, TimeUnit.MINUTES);
        System.out.println(count + " replicas, most " + most);
        assertThat(most).hasValueLessThanOrEqualTo(limit.permits()).hasPositiveValue();
        replicas.forEach(replica -> replica.shares.stop());
    }

    @Tag("slow")
    @Test
    void aLimitThatIsAddedWhileTheEngineIsAwayHasItsPartOfTheReplicas() throws Exception {
        MemoryEngine memory = new MemoryEngine(false);
        LimitSettings partner = LimitSettings.of("partner", 20).withClusterPermits(20);
        List<Replica> replicas = List.of(new Replica(memory, partner, SHORT), new Replica(memory, partner, SHORT));
        for (Replica replica : replicas) {
            replica.threads.submit("partner", () -> 1).get(5, TimeUnit.MINUTES);
            await(() -> state(replica, "partner").members().size() == 2);
        }
        memory.fail();
        for (Replica replica : replicas) {
            await(() -> state(replica, "partner").lending() == Lending.ALONE);
            replica.add(LimitSettings.of("new", 4).withClusterPermits(4));
            assertThat(replica.threads.submit("new", () -> 1).get(5, TimeUnit.MINUTES))
                    .isEqualTo(1);
            assertThat(replica.limits.get("new").lent()).isEqualTo(2);
        }
    }

    @Test
    void manyLimitsAreToldInExchangesOfAHundred() {
        MemoryEngine memory = new MemoryEngine(false);
        TaskTimer timer = new TaskTimer("timer");
        timers.add(timer);
        TaskLimits limits = new TaskLimits(
                IntStream.range(0, 250)
                        .mapToObj(i -> LimitSettings.of("limit" + i, 1).withClusterPermits(1))
                        .toList(),
                timer,
                change -> {});
        ClusterShares shares = new ClusterShares(() -> memory, FAST, timer);
        limits.all().forEach(shares::add);

        shares.start();

        await(() -> limits.all().stream()
                .allMatch(limit -> Objects.requireNonNull(limit.cluster()).lending() == Lending.LENT));
        shares.stop();
        assertThat(memory.exchanges().subList(0, 3)).extracting(List::size).containsExactly(100, 100, 50);
    }

    private static ClusterState state(Replica replica, String limit) {
        return Objects.requireNonNull(replica.limits.get(limit).cluster());
    }

    private static void await(BooleanSupplier event) {
        long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
        while (!event.getAsBoolean()) {
            assertThat(System.nanoTime() - end).isNegative();
            Thread.onSpinWait();
        }
    }

    private int work() throws InterruptedException {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        Thread.sleep(1);
        return running.decrementAndGet();
    }

    private final class Replica {

        final TaskTimer timer = new TaskTimer("timer");
        final TaskLimits limits;
        final ClusterShares shares;
        final VirtualThreads threads;

        Replica(ClusterEngine engine, LimitSettings limit, ClusterSettings settings) {
            timers.add(timer);
            limits = new TaskLimits(List.of(limit), timer, change -> {});
            shares = new ClusterShares(() -> engine, settings, timer);
            limits.all().forEach(shares::add);
            shares.start();
            TaskEngine tasks = new TaskEngine(
                    limits,
                    ContextPropagation.none(),
                    timer,
                    new TaskThreads("vt-", getClass().getClassLoader()),
                    CallExtensions.NONE,
                    false);
            threads = Calls.byHand(tasks, (spec, failure) -> {});
        }

        void add(LimitSettings limit) {
            limits.add(limit);
            shares.add(limits.get(limit.name()));
        }
    }
}
