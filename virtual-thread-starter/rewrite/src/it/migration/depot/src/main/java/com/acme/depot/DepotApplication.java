package com.acme.depot;

import java.util.concurrent.Executor;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

@EnableAsync
@SpringBootApplication
class DepotApplication implements AsyncConfigurer {

    @Override
    public Executor getAsyncExecutor() {
        return loaders();
    }

    @Bean
    ThreadPoolTaskExecutor loaders() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(3);
        return executor;
    }

    @Bean
    ThreadPoolTaskExecutor drivers() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(5);
        return executor;
    }

    @Bean
    ThreadPoolTaskExecutor temps(ThreadPoolTaskExecutorBuilder builder) {
        return builder.build();
    }

    @Bean
    ThreadPoolTaskExecutorCustomizer more() {
        return executor -> executor.setCorePoolSize(50);
    }

    // Stays @Async: the size of loaders is unknown. Set virtual-thread.limits.loaders.permits.
    @Async("loaders")
    public void load() {}

    @Async
    public void unload() {}

    @Async("temps")
    public void sweep() {}
}
