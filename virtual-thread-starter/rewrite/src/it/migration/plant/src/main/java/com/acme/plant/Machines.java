package com.acme.plant;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.task.SimpleAsyncTaskExecutorBuilder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.SyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

@Configuration
class Machines {

    @Bean(defaultCandidate = false)
    Executor threadPerTask() {
        return Executors.newVirtualThreadPerTaskExecutor();
    }

    @Bean(defaultCandidate = false)
    ExecutorService cached() {
        return Executors.newCachedThreadPool();
    }

    @Bean(defaultCandidate = false)
    SimpleAsyncTaskExecutor simple() {
        return new SimpleAsyncTaskExecutor("simple-");
    }

    @Bean(defaultCandidate = false)
    SimpleAsyncTaskExecutor throttled(SimpleAsyncTaskExecutorBuilder builder) {
        return builder.threadNamePrefix("throttled-").concurrencyLimit(7).build();
    }

    @Bean(defaultCandidate = false)
    SimpleAsyncTaskExecutor configured(SimpleAsyncTaskExecutorBuilder builder) {
        return builder.rejectTasksWhenLimitReached(true).build();
    }

    @Bean(defaultCandidate = false)
    ExecutorService single() {
        return Executors.newSingleThreadExecutor();
    }

    @Bean(
            name = {"fixed", "steady"},
            defaultCandidate = false)
    Executor fixed() {
        return new TaskExecutorAdapter(Executors.newFixedThreadPool(5));
    }

    @Bean(defaultCandidate = false)
    Executor literal() {
        return new ThreadPoolExecutor(3, 3, 1, TimeUnit.MINUTES, new LinkedBlockingQueue<>());
    }

    @Bean(defaultCandidate = false)
    Executor handedOver() {
        return new ThreadPoolExecutor(2, 9, 1, TimeUnit.MINUTES, new SynchronousQueue<>());
    }

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor one() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setMaxPoolSize(1);
        executor.setQueueCapacity(Integer.MAX_VALUE);
        return executor;
    }

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor bounded() {
        var executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(2);
        executor.setMaxPoolSize(20);
        executor.setQueueCapacity(100);
        executor.setRejectedExecutionHandler(new ThreadPoolExecutor.AbortPolicy());
        return executor;
    }

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor onTheCaller() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(2);
        executor.setQueueCapacity(100);
        executor.setRejectedExecutionHandler(new ThreadPoolExecutor.CallerRunsPolicy());
        return executor;
    }

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor decorated() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(4);
        executor.setTaskDecorator(task -> () -> {
            if (Thread.currentThread().isDaemon()) {
                task.run();
            }
        });
        return executor;
    }

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor decoratedAndConfigured(@Value("${plant.size}") int size) {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(size);
        executor.setTaskDecorator(task -> () -> {
            if (Thread.currentThread().isDaemon()) {
                task.run();
            }
        });
        return executor;
    }

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor decoratedByABean(TaskDecorator decorator) {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(4);
        executor.setTaskDecorator(decorator);
        return executor;
    }

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor decoratedByAMethod() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(4);
        executor.setTaskDecorator(decorator());
        return executor;
    }

    @Bean
    TaskDecorator decorator() {
        return task -> task;
    }

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor propagating() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(4);
        executor.setTaskDecorator(new ContextPropagatingTaskDecorator());
        return executor;
    }

    @Bean(defaultCandidate = false)
    ThreadPoolTaskExecutor dependsOnTheMachine() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        if (Runtime.getRuntime().availableProcessors() > 4) {
            executor.setCorePoolSize(8);
        }
        return executor;
    }

    @Bean(defaultCandidate = false)
    Executor handedOn() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(8);
        grow(executor);
        return executor;
    }

    private static void grow(ThreadPoolTaskExecutor executor) {
        executor.setCorePoolSize(16);
    }

    @Bean(defaultCandidate = false)
    Executor onTheSpot() {
        return new SyncTaskExecutor();
    }
}
