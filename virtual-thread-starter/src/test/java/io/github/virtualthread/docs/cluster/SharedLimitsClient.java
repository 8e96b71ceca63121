package io.github.virtualthread.docs.cluster;

import io.lettuce.core.resource.Delay;
import java.time.Duration;
import org.springframework.boot.autoconfigure.data.redis.ClientResourcesBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

// example: SharedLimitsClient
@Configuration
class SharedLimitsClient {

    @Bean
    ClientResourcesBuilderCustomizer reconnectSoon() {
        return resources -> resources.reconnectDelay(Delay.constant(Duration.ofMillis(500)));
    }
}
// end
