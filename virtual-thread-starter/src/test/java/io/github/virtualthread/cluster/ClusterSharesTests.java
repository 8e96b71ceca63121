package io.github.virtualthread.cluster;

import static io.github.virtualthread.cluster.TestApplication.until;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.cluster.redis.TestRedis;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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

    private final List<TestApplication> replicas = new ArrayList<>();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    @AfterEach
    void close() {
        replicas.forEach(TestApplication::close);
    }

    private TestApplication replica(ClusterEngine engine, ClusterSettings settings, LimitSettings... limits) {
        TestApplication replica = new TestApplication(engine, settings, List.of(limits));
        replicas.add(replica);
        return replica;
    }

    private static LimitSettings limit(String name, int permits) {
        return LimitSettings.of(name, permits).withClusterPermits(permits);
    }

    @Test
    void callsOfAllReplicasAreNeverMoreThanThePermits() throws Exception {
        MemoryEngine memory = new MemoryEngine(false);

        callsOf(3, memory, limit("partner", 5), FAST);

        close();
        assertThat(memory.members("partner")).isEmpty();
    }

    @Tag("slow")
    @Test
    void callsOfThirtyReplicasByRedisAreNeverMoreThanThePermits() throws Exception {
        LettuceConnectionFactory connections = TestRedis.lettuce();
        try {
            callsOf(30, new RedisClusterEngine(connections, "thirty"), limit("partner", 20), SHORT);
            close();
        } finally {
            connections.destroy();
        }
    }

    private void callsOf(int count, ClusterEngine engine, LimitSettings limit, ClusterSettings settings)
            throws Exception {
        for (int i = 0; i < count; i++) {
            replica(engine, settings, limit);
        }
        List<CompletableFuture<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < 1_500 / count; i++) {
            for (TestApplication replica : replicas) {
                calls.add(replica.threads.submit("partner", this::work));
            }
        }
        CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(5, TimeUnit.MINUTES);
        assertThat(most).hasValueLessThanOrEqualTo(limit.permits()).hasPositiveValue();
    }

    private int work() throws InterruptedException {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        Thread.sleep(1);
        return running.decrementAndGet();
    }

    @Tag("slow")
    @Test
    void aLimitThatIsAddedWhileTheEngineIsAwayHasItsPartOfTheReplicas() throws Exception {
        MemoryEngine memory = new MemoryEngine(false);
        for (int i = 0; i < 2; i++) {
            replica(memory, SHORT, limit("partner", 20))
                    .threads
                    .submit("partner", () -> 1)
                    .get(5, TimeUnit.MINUTES);
        }
        until(() -> replicas.stream()
                .allMatch(replica -> replica.state("partner").members().size() == 2));
        memory.fail();
        for (TestApplication replica : replicas) {
            until(() -> replica.state("partner").lending() == Lending.ALONE);
            TaskLimit added = replica.add(limit("new", 4));
            assertThat(replica.threads.submit("new", () -> 1).get(5, TimeUnit.MINUTES))
                    .isEqualTo(1);
            assertThat(added.lent()).isEqualTo(2);
        }
    }

    @Test
    void manyLimitsAreToldInExchangesOfAHundred() {
        MemoryEngine memory = new MemoryEngine(false);
        LimitSettings[] limits =
                IntStream.range(0, 250).mapToObj(i -> limit("limit" + i, 1)).toArray(LimitSettings[]::new);

        TestApplication replica = replica(memory, FAST, limits);

        until(() -> replica.limits.names().stream()
                .allMatch(name -> replica.state(name).lending() == Lending.LENT));
        assertThat(memory.exchanges().subList(0, 3)).extracting(List::size).containsExactly(100, 100, 50);
        assertThat(memory.exchanges().getFirst().getFirst().member()).matches("shop-[0-9a-z]{4}");
    }
}
