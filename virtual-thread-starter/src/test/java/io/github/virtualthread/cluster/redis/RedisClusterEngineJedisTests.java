package io.github.virtualthread.cluster.redis;

import static io.github.virtualthread.cluster.redis.TestRedis.claim;

import io.github.virtualthread.cluster.Answer;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Redis by Jedis. */
@Tag("slow")
class RedisClusterEngineJedisTests implements RedisClientContract {

    private final TestRedis redis = new TestRedis(RedisClusterEngineJedisTests::jedis);

    private static RedisConnectionFactory jedis(RedisStandaloneConfiguration server) {
        JedisConnectionFactory connections = new JedisConnectionFactory(
                server,
                JedisClientConfiguration.builder()
                        .connectTimeout(Duration.ofMinutes(1))
                        .readTimeout(Duration.ofMinutes(1))
                        .build());
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    @BeforeEach
    void begin() {
        redis.newEngine().exchange(List.of(claim("partner", 1, Duration.ofMillis(1)))); // it is new for so long
        List<Answer> answers;
        do {
            answers = redis.engine().exchange(List.of(claim("partner", Long.MAX_VALUE, Duration.ZERO)));
        } while (!answers.getFirst().noGrowthFor().isZero());
    }

    @Override
    public TestRedis redis() {
        return redis;
    }
}
