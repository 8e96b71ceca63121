package com.acme.quay;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.task.ThreadPoolTaskExecutorCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

@EnableAsync
@SpringBootApplication
class QuayApplication {

    @Bean
    ThreadPoolTaskExecutorCustomizer foremen() {
        return executor -> executor.setTaskDecorator(task -> () -> {
            if (Thread.currentThread().isDaemon()) {
                task.run();
            }
        });
    }

    @Async
    public void unload() {}
}
