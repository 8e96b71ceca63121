package com.acme.shop;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

@Configuration
class Pools {

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor mailExecutor() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(4);
        executor.setMaxPoolSize(40);
        return executor;
    }

    @Bean(name = "reportExecutor", defaultCandidate = false)
    ThreadPoolTaskExecutor reports(ThreadPoolTaskExecutorBuilder builder) {
        return builder.corePoolSize(2).maxPoolSize(5).queueCapacity(50).build();
    }

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor bannerExecutor(@Value("${banner.size:3}") int size) {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(size);
        return executor;
    }
}
