package io.github.virtualthread.cluster.redis;

import org.junit.jupiter.api.Tag;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;

/** Redis by Jedis. */
@Tag("slow")
class RedisClusterEngineJedisTests extends RedisEngineContract {

    @Override
    RedisConnectionFactory connect(RedisStandaloneConfiguration server) {
        JedisConnectionFactory connections = new JedisConnectionFactory(server);
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }
}
