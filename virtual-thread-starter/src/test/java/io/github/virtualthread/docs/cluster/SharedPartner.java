package io.github.virtualthread.docs.cluster;

import io.github.virtualthread.cluster.redis.RedisClusterEngine;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.RedisConnectionFactory;

// example: SharedPartner
@Configuration
@EnableVirtual
class SharedPartner {

    @Bean
    RedisClusterEngine engine(RedisConnectionFactory connections) {
        return new RedisClusterEngine(connections, "shop");
    }

    @Bean
    LimitSettings partner() {
        return LimitSettings.of("partner", 20).withClusterPermits(20).withOnFailure(OnFailure.WAIT);
    }
}
// end
