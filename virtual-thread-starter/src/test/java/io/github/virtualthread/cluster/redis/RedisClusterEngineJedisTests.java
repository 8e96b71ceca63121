package io.github.virtualthread.cluster.redis;

import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.ClusterEngineContract;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Redis by Jedis. */
class RedisClusterEngineJedisTests extends ClusterEngineContract {

    private static final AtomicInteger CLUSTERS = new AtomicInteger();

    private static JedisConnectionFactory connections;

    @BeforeAll
    static void connect() {
        connections = new JedisConnectionFactory(
                new RedisStandaloneConfiguration(RedisTestServer.HOST, RedisTestServer.port()));
        connections.afterPropertiesSet();
        connections.start();
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    @Override
    protected ClusterEngine engine() {
        return new RedisClusterEngine(connections, "jedis-" + CLUSTERS.incrementAndGet());
    }

    @Override
    protected void loseData() {
        try (var connection = connections.getConnection()) {
            connection.serverCommands().flushAll();
        }
    }
}
