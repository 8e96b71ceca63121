package io.github.virtualthread.cluster.redis;

import org.junit.jupiter.api.Tag;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** Redis by Lettuce. */
@Tag("slow")
class RedisClusterEngineTests extends RedisEngineContract {

    @Override
    RedisConnectionFactory connect(RedisStandaloneConfiguration server) {
        LettuceConnectionFactory connections = new LettuceConnectionFactory(server);
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }
}
