package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.jdbc.JdbcClusterEngine;
import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.cluster.redis.RedisTestServer;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.limit.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Three replicas in one JVM, by a real engine and the clock of the machine: all of them flood one key. */
@Timeout(300)
class KeyFloodTests {

    private static final int PERMITS = 3;
    private static final int CALLS = 200;

    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    @Test
    void aKeyNeverRunsMoreCallsThanItsPermitsByRedis() throws Exception {
        LettuceConnectionFactory connections =
                new LettuceConnectionFactory(RedisTestServer.HOST, RedisTestServer.port());
        connections.afterPropertiesSet();
        connections.start();
        try {
            flood(() -> new RedisClusterEngine(connections, "flood"));
        } finally {
            connections.destroy();
        }
    }

    @Test
    void aKeyNeverRunsMoreCallsThanItsPermitsByADatabase() throws Exception {
        DataSource dataSource = new DriverManagerDataSource("jdbc:h2:mem:flood;DB_CLOSE_DELAY=-1", "sa", "");
        new JdbcClusterEngine(dataSource, "flood").initialize();
        flood(() -> new JdbcClusterEngine(dataSource, "flood"));
    }

    private void flood(Supplier<ClusterEngine> engines) throws Exception {
        LimitSettings tenant = LimitSettings.of("tenant", 40).withClusterPermitsPerKey(PERMITS);
        ClusterSettings settings =
                new ClusterSettings("flood", Duration.ofMinutes(5), Duration.ofMillis(20), OnFailure.WAIT, null);
        List<TaskTimer> timers = new ArrayList<>();
        List<ClusterShares> all = new ArrayList<>();
        List<CompletableFuture<Integer>> calls = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            TaskTimer timer = new TaskTimer("timer");
            timers.add(timer);
            TaskLimits limits = new TaskLimits(List.of(tenant), timer, change -> {});
            ClusterEngine engine = engines.get();
            ClusterShares shares = new ClusterShares(() -> engine, settings, timer);
            limits.all().forEach(shares::add);
            shares.start();
            all.add(shares);
            TaskEngine tasks = new TaskEngine(
                    limits,
                    ContextPropagation.none(),
                    timer,
                    "vt-",
                    getClass().getClassLoader(),
                    List::of,
                    List::of,
                    false);
            VirtualThreads threads = new VirtualThreads(tasks, (spec, failure) -> {});
            for (int j = 0; j < CALLS; j++) {
                calls.add(threads.forKey("acme").submit("tenant", this::work));
            }
            calls.add(threads.forKey("m\u00fcller \u0000").submit("tenant", () -> 1));
        }
        CompletableFuture.allOf(calls.toArray(CompletableFuture[]::new)).get(4, TimeUnit.MINUTES);
        assertThat(most).hasValueLessThanOrEqualTo(PERMITS).hasPositiveValue();
        all.forEach(ClusterShares::stop);
        timers.forEach(TaskTimer::close);
    }

    private int work() {
        most.accumulateAndGet(running.incrementAndGet(), Math::max);
        Thread.yield();
        return running.decrementAndGet();
    }
}
