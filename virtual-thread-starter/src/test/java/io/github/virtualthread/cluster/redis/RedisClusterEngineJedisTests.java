package io.github.virtualthread.cluster.redis;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Redis by Jedis. */
@Tag("slow")
class RedisClusterEngineJedisTests extends RedisClientContract {

    RedisClusterEngineJedisTests() {
        super(RedisClusterEngineJedisTests::jedis);
    }

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
}
