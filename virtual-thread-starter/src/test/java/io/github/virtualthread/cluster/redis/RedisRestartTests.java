package io.github.virtualthread.cluster.redis;

import static io.github.virtualthread.cluster.TestClaims.LONG;
import static io.github.virtualthread.cluster.TestClaims.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.Answer;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import redis.embedded.RedisServer;

/** A real Redis that comes back with the data of its last snapshot, or with all it had. */
@Tag("slow")
@Timeout(300)
class RedisRestartTests {

    @TempDir
    Path directory;

    private final int port = RedisTestServer.freePort();
    private RedisServer server;
    private LettuceConnectionFactory connections;
    private RedisClusterEngine engine;

    @BeforeEach
    void start() {
        server = RedisTestServer.start(port, "dir " + directory);
        connections = RedisTestServer.lettuce(port);
        engine = new RedisClusterEngine(connections, "shop");
        ask("a", 1, 0, 0, 0, Duration.ofMillis(1)); // it is new: no share grows for so long
        while (!ask("a", 2, 0, 0, 0, Duration.ZERO).noGrowthFor().isZero()) {
            Thread.onSpinWait();
        }
    }

    @AfterEach
    void stop() throws IOException {
        connections.destroy();
        server.stop();
    }

    @Test
    void noShareGrowsForALeaseAfterARestartWithASnapshot() throws IOException {
        assertThat(ask("a", 3, 0, 0, 2, LONG).share()).isEqualTo(2);
        new StringRedisTemplate(connections).execute((RedisConnection connection) -> connection.execute("SAVE"));
        assertThat(ask("b", 1, 0, 0, 8, LONG).share()).isEqualTo(8);

        restart();

        assertThat(ask("c", 1, 0, 0, 8, LONG).share())
                .as("a new replica comes first")
                .isZero();
        Answer stayed = ask("a", 4, 3, 2, 10, LONG);
        assertThat(stayed.share()).as("a replica that has lost nothing").isEqualTo(2);
        assertThat(stayed.others()).extracting(Answer.Other::member).containsExactly("c");
        assertThat(ask("b", 2, 1, 8, 10, LONG).share()).as("what was lost").isEqualTo(8);
    }

    @Test
    void oneRestartHoldsUpOnce() throws IOException {
        ask("a", 3, 0, 0, 2, LONG);
        new StringRedisTemplate(connections).execute((RedisConnection connection) -> connection.execute("SAVE"));

        restart();

        Duration lease = Duration.ofMillis(500);
        assertThat(ask("a", 4, 3, 2, 10, lease).noGrowthFor()).isEqualTo(lease);
        ask("a", 5, 4, 2, 10, LONG);
        while (!ask("visitor", 1, 0, 0, 0, Duration.ZERO).noGrowthFor().isZero()) {
            Thread.onSpinWait();
        }
        assertThat(ask("a", 6, 5, 2, 10, LONG).share()).isEqualTo(10);
    }

    private void restart() throws IOException {
        server.stop();
        server = RedisTestServer.start(port, "dir " + directory);
    }

    private Answer ask(String member, long number, long last, int holds, int asks, Duration lease) {
        return engine.exchange(List.of(claim("partner", member, number, last, holds, asks, lease)))
                .getFirst();
    }
}
