package com.acme.pier;

import io.github.virtualthread.VirtualThread;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

@EnableAsync
@EnableScheduling
@SpringBootApplication
class PierApplication {

    @Bean
    ThreadPoolTaskExecutor cranes() {
        ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
        executor.setCorePoolSize(2);
        return executor;
    }

    @VirtualThread("cranes")
    public void lift() {}

    // Stays @Async: its executor is not certain. Name one in @Async, or set virtual-thread.default-limit.
    @Async
    public void moor() {}
}
