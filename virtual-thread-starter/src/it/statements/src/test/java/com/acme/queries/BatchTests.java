package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.execution.VirtualThreads;
import java.util.Iterator;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.batch.core.converter.DefaultJobParametersConverter;
import org.springframework.batch.core.job.builder.JobBuilder;
import org.springframework.batch.core.launch.support.TaskExecutorJobLauncher;
import org.springframework.batch.core.repository.JobRepository;
import org.springframework.batch.core.repository.support.JobRepositoryFactoryBean;
import org.springframework.batch.core.step.builder.StepBuilder;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.PlatformTransactionManager;

/**
 * A job of Spring Batch in a call that is stopped within the second chunk of its step. What the job then wants to note of itself is
 * refused, as all that a stopped body sends.
 */
@Timeout(600)
class BatchTests {

    private static final int CHUNK = 10;
    private static final int SLOW = 4711;

    @ParameterizedTest
    @EnumSource(names = {"POSTGRES", "MARIADB"})
    void theChunkIsRolledBackAndThoseBeforeStay(Database database) throws Exception {
        try (Shop shop = Shop.open(database)) {
            shop.jdbc.update("delete from sold");
            DataSource pool = shop.context.getBean(DataSource.class);
            PlatformTransactionManager transactions = shop.context.getBean(PlatformTransactionManager.class);
            JobRepository repository = repository(shop, pool, transactions);
            Iterator<Integer> items = IntStream.range(0, 5 * CHUNK).boxed().iterator();
            var step = new StepBuilder("sell", repository)
                    .<Integer, Integer>chunk(CHUNK, transactions)
                    .reader(() -> items.hasNext() ? items.next() : null)
                    .writer(chunk -> {
                        for (int item : chunk) {
                            shop.jdbc.update("insert into sold values (?)", item);
                        }
                        if (chunk.getItems().contains(CHUNK)) {
                            shop.jdbc.execute(database.sleep(Integer.toString(SLOW), 60));
                        }
                    })
                    .build();
            var job = new JobBuilder("sales", repository).start(step).build();
            TaskExecutorJobLauncher launcher = new TaskExecutorJobLauncher();
            launcher.setJobRepository(repository);
            launcher.afterPropertiesSet();
            var parameters = new DefaultJobParametersConverter().getJobParameters(new Properties());

            CompletableFuture<?> call = shop.context
                    .getBean(VirtualThreads.class)
                    .submit("db", () -> launcher.run(job, parameters).toString());
            await().atMost(Shop.LONG).until(() -> database.queries().contains(SLOW));
            call.cancel(true);
            shop.awaitAllPermits();

            System.out.println("BATCH %s: statements %s".formatted(database, shop.calls.outcomes()));
            assertThat(shop.jdbc.queryForList("select number from sold order by number", Integer.class))
                    .isEqualTo(IntStream.range(0, CHUNK).boxed().toList());
            assertThat(shop.jdbc.queryForList("select status from BATCH_JOB_EXECUTION", String.class))
                    .as("as after a crash")
                    .containsExactly("STARTED");
            assertThat(database.queries()).doesNotContain(SLOW);
            assertThat(shop.sessions()).hasSize(Shop.POOL);
        }
    }

    private static JobRepository repository(Shop shop, DataSource pool, PlatformTransactionManager transactions)
            throws Exception {
        String script = shop.database == Database.POSTGRES ? "postgresql" : "mariadb";
        new ResourceDatabasePopulator(
                        new ClassPathResource("org/springframework/batch/core/schema-%s.sql".formatted(script)))
                .execute(pool);
        JobRepositoryFactoryBean factory = new JobRepositoryFactoryBean();
        factory.setDataSource(pool);
        factory.setTransactionManager(transactions);
        factory.afterPropertiesSet();
        return factory.getObject();
    }
}
