package io.github.virtualthread.cluster.redis;

import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.test.ClusterStoreContract;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Redis by Jedis. */
@Tag("slow")
class RedisClusterEngineJedisTests extends ClusterStoreContract implements RedisClientContract {

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

    @Override
    public TestRedis redis() {
        return redis;
    }

    @Override
    protected ClusterEngine engine() {
        return redis.newEngine();
    }

    @Override
    protected void loseData() {
        redis.loseData();
    }

    @Override
    protected Runnable backup() {
        return redis.backup();
    }

    @Override
    protected void changeServer() {
        redis.changeServer();
    }
}
