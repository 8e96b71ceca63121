package io.github.virtualthread.cluster.redis;

import static io.github.virtualthread.cluster.TestClaims.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.RedisCallback;
import org.springframework.data.redis.core.StringRedisTemplate;
import redis.embedded.RedisServer;

/** A Redis Cluster, with all slots on one node: a command whose keys are in two slots fails as with many. */
@Tag("slow")
@Timeout(300)
class RedisClusterModeTests {

    @Test
    void oneExchangeServesLimitsOfAnyName(@TempDir Path directory) throws IOException {
        int port = RedisTestServer.freePort(); // the port of the cluster's bus is 10,000 higher
        while (port > 55_000) {
            port = RedisTestServer.freePort();
        }
        RedisServer server = RedisTestServer.start(port, "cluster-enabled yes", "dir " + directory);
        LettuceConnectionFactory node = RedisTestServer.lettuce(port);
        LettuceConnectionFactory cluster = null;
        try {
            takeAllSlots(new StringRedisTemplate(node));
            cluster =
                    RedisTestServer.lettuce(new RedisClusterConfiguration(List.of(RedisTestServer.HOST + ":" + port)));
            RedisClusterEngine engine = new RedisClusterEngine(cluster, "shop");

            engine.exchange(claims("a", 1, 0, Duration.ofMillis(1))); // they are new: none grows for so long
            Answer answer;
            do {
                answer = engine.exchange(claims("a", 2, 0, Duration.ZERO)).getLast();
            } while (!answer.noGrowthFor().isZero());

            assertThat(engine.exchange(claims("a", 1, 4, Duration.ofHours(1))))
                    .hasSize(20)
                    .extracting(Answer::share)
                    .containsOnly(4);
            assertThat(engine.exchange(claims("b", 1, 10, Duration.ofHours(1))))
                    .extracting(Answer::share)
                    .containsOnly(6);
        } finally {
            if (cluster != null) {
                cluster.destroy();
            }
            node.destroy();
            server.stop();
        }
    }

    private static void takeAllSlots(StringRedisTemplate node) {
        List<byte[]> slots = new ArrayList<>(List.of(bytes("ADDSLOTS")));
        IntStream.range(0, 16_384).forEach(slot -> slots.add(bytes(Integer.toString(slot))));
        node.execute((RedisConnection connection) -> connection.execute("CLUSTER", slots.toArray(byte[][]::new)));
        RedisCallback<byte[]> info = connection -> (byte[]) connection.execute("CLUSTER", bytes("INFO"));
        while (!new String(node.execute(info), StandardCharsets.UTF_8).contains("cluster_state:ok")) {
            Thread.onSpinWait();
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static List<Claim> claims(String member, long number, int asks, Duration lease) {
        return IntStream.range(0, 20)
                .mapToObj(i -> claim("limit-" + i, member, number, 0, 0, asks, lease))
                .toList();
    }
}
