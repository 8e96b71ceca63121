package io.github.virtualthread.docs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import io.github.virtualthread.autoconfigure.VirtualThreadAsyncAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.docs.Pages.Block;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.PropertySource;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

/** The accident of the README: with a second executor bean, the calls of {@code @Async} have no bound. Two properties give them one. */
@Timeout(300)
class TwoExecutorsTests {

    private static final int CALLS = 150;
    private static final String README = Pages.normalized(Pages.text("README.md"));

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class,
                    VirtualThreadAsyncAutoConfiguration.class,
                    TaskExecutionAutoConfiguration.class))
            .withUserConfiguration(Shop.class)
            .withBean(Mailer.class)
            .withBean(HikariDataSource.class, TwoExecutorsTests::pool);

    @Test
    void aSecondExecutorBeanLeavesAsyncWithoutABound() {
        runner.run(context -> whileAllCalls(context, (pool, connections) -> {
            await().atMost(Duration.ofMinutes(2)).until(() -> running(pool) == CALLS);

            assertThat(README)
                    .contains("has %d calls at once on a pool of %d connections".formatted(CALLS, connections));
        }));
    }

    @Test
    void twoPropertiesGiveThemABound() {
        Block yaml = Pages.blocks(Pages.ROOT.resolve("README.md")).stream()
                .filter(block -> block.text().contains("async.limit"))
                .findFirst()
                .orElseThrow();
        PropertySource<?> lines = Pages.properties(yaml.where(), yaml.text());
        runner.withInitializer(
                        context -> context.getEnvironment().getPropertySources().addFirst(lines))
                .run(context -> whileAllCalls(context, (pool, connections) -> {
                    TaskLimit mail = context.getBean(TaskLimits.class).get("mail");
                    await().atMost(Duration.ofMinutes(2)).until(() -> running(pool) == mail.permits());

                    assertThat(mail.waiting()).isEqualTo(CALLS - mail.permits());
                    assertThat(README).contains("and %d with these properties".formatted(mail.permits()));
                }));
    }

    private static void whileAllCalls(AssertableApplicationContext context, BiConsumer<HikariPoolMXBean, Integer> check)
            throws Exception {
        Mailer mailer = context.getBean(Mailer.class);
        HikariDataSource pool = context.getBean(HikariDataSource.class);
        pool.getConnection().close(); // before the first one there is no pool
        try {
            for (int i = 0; i < CALLS; i++) {
                mailer.send();
            }
            check.accept(pool.getHikariPoolMXBean(), pool.getMaximumPoolSize());
        } finally {
            mailer.end();
        }
    }

    /** Each call has a connection, or waits for one. */
    private static int running(HikariPoolMXBean pool) {
        return pool.getActiveConnections() + pool.getThreadsAwaitingConnection();
    }

    private static HikariDataSource pool() {
        HikariDataSource pool = new HikariDataSource();
        pool.setJdbcUrl("jdbc:h2:mem:two-executors");
        pool.setConnectionTimeout(Duration.ofMinutes(4).toMillis());
        return pool;
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync
    static class Shop {

        @Bean
        ThreadPoolTaskExecutor mainExecutor() {
            return pool();
        }

        @Bean
        ThreadPoolTaskExecutor monitoringExecutor() {
            return pool();
        }

        private static ThreadPoolTaskExecutor pool() {
            ThreadPoolTaskExecutor pool = new ThreadPoolTaskExecutor();
            pool.setCorePoolSize(4);
            return pool;
        }
    }

    static class Mailer {

        private final CountDownLatch gate = new CountDownLatch(1);

        @Autowired
        private HikariDataSource dataSource;

        @Async
        public void send() throws Exception {
            Connection connection = dataSource.getConnection();
            gate.await();
            connection.close();
        }

        /** A method, because the bean is a proxy. */
        void end() {
            gate.countDown();
        }
    }
}
