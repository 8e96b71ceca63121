package com.acme.queries;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.acme.queries.Calls.Query;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.limit.TaskLimits;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.context.support.AbstractRefreshableApplicationContext;
import org.springframework.core.env.MapPropertySource;

/** A context begins again while the database runs a query of the old one. */
@Timeout(600)
class RestartTests {

    private static final Database DATABASE = Database.POSTGRES;

    static Map<String, Object> properties(String url) {
        Map<String, Object> properties = new HashMap<>();
        properties.put("spring.datasource.url", url);
        properties.put("spring.datasource.username", DATABASE.user);
        properties.put("spring.datasource.hikari.maximum-pool-size", Shop.POOL);
        properties.put("spring.main.web-application-type", "none");
        properties.put("spring.flyway.enabled", false);
        properties.put("spring.liquibase.enabled", false);
        properties.put("spring.data.jpa.repositories.enabled", false);
        properties.put("virtual-thread.limits.db.permits-from", "dataSource");
        properties.put("virtual-thread.jdbc.cancel-statements", true);
        properties.put("virtual-thread.shutdown.await-termination-period", "50ms");
        properties.put("logging.level.root", "warn");
        return properties;
    }

    /** It destroys all beans, and makes them again. */
    @Test
    void aRefreshEndsTheQueryAndTheNewBeansCancelTheirs() throws Exception {
        try (Refreshable context = new Refreshable()) {
            context.getEnvironment()
                    .getPropertySources()
                    .addFirst(new MapPropertySource("test", properties(DATABASE.url())));
            context.refresh();
            CompletableFuture<Void> call = context.getBean(Queries.class).plain(new Query(1, DATABASE.sleep("1", 300)));
            await().atMost(Shop.LONG).until(() -> DATABASE.queries().contains(1));

            context.refresh();

            assertThat(call).failsWithin(Shop.LONG);
            await().atMost(Shop.LONG).until(() -> !DATABASE.queries().contains(1));
            assertThatAStopCancels(context);
        }
    }

    private static void assertThatAStopCancels(ConfigurableApplicationContext context) {
        CompletableFuture<Void> call = context.getBean(Queries.class).plain(new Query(2, DATABASE.sleep("2", 300)));
        await().atMost(Shop.LONG).until(() -> DATABASE.queries().contains(2));
        assertThat(call.cancel(true)).isTrue();
        TaskLimits limits = context.getBean(TaskLimits.class);
        await().atMost(Shop.LONG).until(() -> limits.get("db").available() == Shop.POOL);
        assertThat(context.getBean(Calls.class).outcomes()).containsOnlyKeys(StatementOutcome.CANCELLED);
        assertThat(DATABASE.queries()).doesNotContain(2);
    }

    private static final class Refreshable extends AbstractRefreshableApplicationContext {

        @Override
        protected void loadBeanDefinitions(DefaultListableBeanFactory beans) {
            beans.registerSingleton("database", DATABASE);
            new AnnotatedBeanDefinitionReader(beans, getEnvironment()).register(Shop.Application.class);
        }
    }

    /** Devtools' restart, in a JVM of its own. */
    @Test
    void aRestartEndsTheQueryAndTheNewContextCancelsIts(@TempDir Path folder) throws Exception {
        Path log = folder.resolve("log");
        Process application = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "-Dspring.devtools.livereload.enabled=false",
                        "-Dpostgres=" + DATABASE.url(),
                        Restarted.class.getName())
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(application.waitFor(4, TimeUnit.MINUTES))
                    .as(() -> read(log))
                    .isTrue();

            assertThat(read(log)).contains("ROUND 2 in RestartClassLoader: old query has ended, own {CANCELLED=1}");
        } finally {
            application.destroyForcibly();
        }
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
