package com.acme.reminders;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.Task;
import java.time.Duration;
import javax.sql.DataSource;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

@SpringBootApplication
public class RemindersApplication {

    /** As the starter of db-scheduler makes it, but with more threads than the limit has permits. */
    @Bean(initMethod = "start", destroyMethod = "stop")
    Scheduler scheduler(DataSource source, Task<Integer> reminder) {
        return Scheduler.create(new TransactionAwareDataSourceProxy(source), reminder)
                .threads(20)
                .pollingInterval(Duration.ofMillis(100))
                .build();
    }
}
