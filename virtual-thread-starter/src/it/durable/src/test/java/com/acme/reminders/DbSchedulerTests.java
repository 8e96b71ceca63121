package com.acme.reminders;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.acme.shop.CountingMailServer;
import com.acme.shop.Postgres;
import com.github.kagkarlsson.scheduler.SchedulerClient;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.transaction.support.TransactionTemplate;

@Timeout(600)
class DbSchedulerTests {

    private static final int TASKS = 200;

    private final Postgres database = Postgres.database("reminders", "scheduled-tasks.sql");
    private final ConfigurableApplicationContext context = new SpringApplicationBuilder(
                    RemindersApplication.class, CountingMailServer.class)
            .run("--spring.datasource.url=" + database.url(), "--replica=one");

    @AfterEach
    void stop() {
        context.close();
    }

    @Test
    void tasksOfCommittedTransactionsRunUnderTheLimit() {
        SchedulerClient scheduler = context.getBean(SchedulerClient.class);
        TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
        transaction.executeWithoutResult(status -> {
            Reminders.remind(scheduler, TASKS, Instant.now());
            status.setRollbackOnly();
        });
        transaction.executeWithoutResult(status -> {
            for (int number = 0; number < TASKS; number++) {
                Reminders.remind(scheduler, number, Instant.now());
            }
        });

        await().atMost(Duration.ofMinutes(5)).until(() -> database.count("scheduled_tasks") == 0);

        assertThat(database.jdbc().queryForList("select number from mails order by number", Integer.class))
                .hasSize(TASKS)
                .doesNotHaveDuplicates()
                .doesNotContain(TASKS);
        assertThat(database.mostAtOnce()).containsExactly(CountingMailServer.PERMITS);
    }
}
