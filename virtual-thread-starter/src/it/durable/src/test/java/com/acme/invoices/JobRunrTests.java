package com.acme.invoices;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.acme.shop.CountingMailServer;
import com.acme.shop.Postgres;
import java.time.Duration;
import java.util.stream.IntStream;
import org.jobrunr.scheduling.JobScheduler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.transaction.support.TransactionTemplate;

@Timeout(600)
class JobRunrTests {

    private static final int JOBS = 200;

    private final Postgres database = Postgres.database("invoices");
    private final ConfigurableApplicationContext context = new SpringApplicationBuilder(
                    InvoicesApplication.class, CountingMailServer.class)
            .run(
                    "--spring.datasource.url=" + database.url(),
                    "--spring.autoconfigure.exclude=",
                    "--replica=one",
                    "--jobrunr.background-job-server.enabled=true",
                    "--jobrunr.background-job-server.worker-count=20",
                    "--jobrunr.background-job-server.poll-interval-in-seconds=5",
                    "--jobrunr.miscellaneous.allow-anonymous-data-usage=false"); // nothing leaves this machine

    @AfterEach
    void stop() {
        context.close();
    }

    @Test
    void jobsRunUnderTheLimitAlsoThatOfATransactionThatIsRolledBack() {
        JobScheduler jobs = context.getBean(JobScheduler.class);
        context.getBean(TransactionTemplate.class).executeWithoutResult(status -> {
            jobs.<InvoiceMails>enqueue(mails -> mails.send(JOBS));
            status.setRollbackOnly();
        });

        jobs.<InvoiceMails, Integer>enqueue(IntStream.range(0, JOBS).boxed(), (mails, number) -> mails.send(number));

        await().atMost(Duration.ofMinutes(5))
                .until(() -> database.count("jobrunr_jobs where state <> 'SUCCEEDED'") == 0);
        assertThat(database.jdbc().queryForList("select number from mails", Integer.class))
                .hasSize(JOBS + 1)
                .doesNotHaveDuplicates();
        assertThat(database.mostAtOnce()).containsExactly(CountingMailServer.PERMITS);
    }
}
