package io.github.virtualthread.docs.byhand;

import io.github.virtualthread.execution.VirtualThreads;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.AsyncTaskExecutor;

// example: ShopExecutors
@Configuration
class ShopExecutors {

    @Bean(defaultCandidate = false)
    AsyncTaskExecutor dbExecutor(VirtualThreads threads) {
        return threads.executor("db");
    }
}
// end
