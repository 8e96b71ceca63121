package io.github.virtualthread.docs;

import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

// example: PlainSpring
@Configuration
@EnableVirtual
class PlainSpring {

    @Bean
    LimitSettings db() {
        return LimitSettings.of("db", 20).withQueueCapacity(100).withMaxWait(Duration.ofSeconds(2));
    }
}
// end
