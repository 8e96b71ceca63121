package io.github.virtualthread.sample.lab.experiment;

import org.springframework.boot.task.ThreadPoolTaskExecutorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** Pools that are flooded. By name only: whoever asks for an executor gets that of the application. */
@Configuration(proxyBeanMethods = false)
class FloodExecutors {

    static final int SIZE = 50;
    static final int QUEUE = 100;

    /** With Spring's policy for a full queue: abort, and throw. */
    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor floodPool() {
        ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
        pool.setCorePoolSize(SIZE);
        pool.setMaxPoolSize(SIZE);
        pool.setQueueCapacity(QUEUE);
        pool.setThreadNamePrefix("flood-pool-");
        return pool;
    }

    /** As Spring Boot makes it where nothing is set. */
    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor floodQueue(ThreadPoolTaskExecutorBuilder defaults) {
        return defaults.threadNamePrefix("flood-queue-").build();
    }
}
