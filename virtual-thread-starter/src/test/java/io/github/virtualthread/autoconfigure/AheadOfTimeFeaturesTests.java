package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.config.VirtualThreadDataSource;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.web.context.support.GenericWebApplicationContext;

/** The start of an application that was processed ahead of time says which features it has. */
@Timeout(300)
@Tag("slow")
class AheadOfTimeFeaturesTests extends GeneratedApplications {

    private static final Map<String, Object> CANCELLING =
            Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.jdbc.cancel-statements", "true");
    private static final Map<String, Object> WITH_HEALTH =
            Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.health.saturated-after", "1s");
    private static final Map<String, Object> WEAVING =
            Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.mode", "aspectj");

    @CompiledTest
    void aLimitIsSharedIfTheStartSaysSo() {
        Map<String, Object> properties = Map.of(
                "virtual-thread.limits.db.cluster-permits", "7",
                "virtual-thread.cluster.on-failure", "wait",
                "virtual-thread.cluster.name", "shop");
        started(Replica.class, Map.of("virtual-thread.limits.db.permits", "2"), properties, context -> {
            assertThat(context.getBean(Mailer.class).send().join()).startsWith("vt-Mailer.send-");
            assertThat(context.getBean(TaskLimits.class).get("db").lent()).isPositive();
            assertThat(context.getBean(StoredLimits.class).store()).isInstanceOf(JdbcClusterStore.class);
        });
    }

    @CompiledTest
    void theEngineHasTheDataSourceAndTheTableThatAreItsOwn() {
        Map<String, Object> properties = Map.of(
                "virtual-thread.limits.db.cluster-permits", "7",
                "virtual-thread.cluster.name", "shop",
                "virtual-thread.cluster.on-failure", "wait",
                "virtual-thread.cluster.jdbc.table", "shop_permits");
        started(ReplicaWithOwnPool.class, LIMITS, properties, context -> {
            assertThat(context.getBean(Mailer.class).send().join()).startsWith("vt-Mailer.send-");
            DataSource own = context.getBean("forPermits", DataSource.class);
            assertThat(((JdbcClusterStore) context.getBean(StoredLimits.class).store()).dataSource())
                    .isSameAs(own);
            assertThat(isInitialized(new JdbcClusterStore(own, "shop", "shop_permits")))
                    .isTrue();
        });
    }

    private static boolean isInitialized(JdbcClusterStore engine) {
        try {
            return engine.isInitialized();
        } catch (SQLException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @CompiledTest
    void methodsAreToBeWovenWhereTheStartSaysSo() {
        assertThatThrownBy(() -> started(Shop.class, LIMITS, WEAVING, context -> {}))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("no class with annotated methods is woven");
    }

    @CompiledTest
    void methodsNeedNotBeWovenWhereOnlyTheBuildSaysSo() {
        started(Shop.class, WEAVING, LIMITS, context -> assertThat(
                        context.getBean(Mailer.class).send().join())
                .startsWith("vt-"));
    }

    @CompiledTest
    void requestsHaveTheLimitThatOnlyTheStartSets() {
        Map<String, Object> withDoor = Map.of(
                "virtual-thread.limits.db.permits", "2",
                "virtual-thread.limits.db.queue-capacity", "0",
                "virtual-thread.web.limit", "db");

        webStarted(withDoor, door -> assertThat(door.isEnabled()).isTrue());
    }

    @CompiledTest
    void requestsEndWithTheirClientWhereOnlyTheStartSaysSo() {
        Map<String, Object> withDoor =
                Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.web.cancel-abandoned", "true");

        webStarted(withDoor, door -> assertThat(door.isEnabled()).isTrue());
    }

    @CompiledTest
    void requestsHaveNoLimitThatTheStartDoesNotSet() {
        webStarted(LIMITS, door -> assertThat(door.isEnabled()).isFalse());
    }

    private static void webStarted(Map<String, Object> whenStarted, Consumer<FilterRegistrationBean<?>> then) {
        started(
                processed(new AnnotationConfigServletWebApplicationContext(), Web.class, LIMITS),
                new GenericWebApplicationContext(),
                whenStarted,
                context -> then.accept(context.getBean(FilterRegistrationBean.class)));
    }

    @CompiledTest
    void statementsAreCancelledWhereOnlyTheStartSaysSo() {
        started(Pooled.class, LIMITS, CANCELLING, context -> assertThat(
                        HikariStatements.isCovered(context.getBean(DataSource.class)))
                .isTrue());
    }

    @CompiledTest
    void statementsAreNotCancelledWhereOnlyTheBuildSaysSo() {
        started(Pooled.class, CANCELLING, LIMITS, context -> assertThat(
                        HikariStatements.isCovered(context.getBean(DataSource.class)))
                .isFalse());
    }

    @CompiledTest
    void healthIsThereIfTheStartAsksForIt() {
        started(Healthy.class, LIMITS, WITH_HEALTH, context -> assertThat(
                        context.getBean(HealthIndicator.class).health().getStatus())
                .isEqualTo(Status.UP));
    }

    @CompiledTest
    void healthIsNotThereIfOnlyTheBuildAsksForIt() {
        started(Healthy.class, WITH_HEALTH, LIMITS, context -> assertThat(context.getBeansOfType(HealthIndicator.class))
                .isEmpty());
    }

    @CompiledTest
    void executorsAreThoseOfTheStart() {
        Map<String, Object> properties = Map.of(
                "virtual-thread.limits.db.permits", "2",
                "virtual-thread.async.limit", "db",
                "virtual-thread.async.executors.pool", "db");
        started(Asynchronous.class, Map.of(), properties, context -> {
            assertThat(context.getBean(AsksForReports.class).executor()).hasToString("pool under limit 'db'");
            assertThat(context.getBean(AsyncMailer.class).send().join()).startsWith("vt-AsyncMailer.send-");
        });
    }

    @CompiledTest
    void whatTheBuildAsksOfExecutorsIsNotThatOfTheStart() {
        Map<String, Object> ofBuild =
                Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.async.executors.pool", "db");
        started(Asynchronous.class, ofBuild, Map.of(), context -> assertThat(
                        context.getBean(AsyncMailer.class).send().join())
                .doesNotStartWith("vt-"));
    }

    @CompiledTest
    void aLimitOfAnExecutorIsCheckedAtTheStart() {
        Map<String, Object> properties = Map.of("virtual-thread.async.limit", "db");

        assertThatThrownBy(() -> started(Asynchronous.class, properties, properties, context -> {}))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("virtual-thread.async.limit asks for limit 'db', but no limits are configured");
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({VirtualThreadAutoConfiguration.class, VirtualThreadClusterAutoConfiguration.class})
    @Import(Mailer.class)
    static class Replica {

        @Bean
        JdbcDataSource dataSource() {
            JdbcDataSource h2 = new JdbcDataSource();
            h2.setUrl("jdbc:h2:mem:replica;DB_CLOSE_DELAY=-1");
            return h2;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Replica.class)
    static class ReplicaWithOwnPool {

        @Bean(defaultCandidate = false)
        @VirtualThreadDataSource
        JdbcDataSource forPermits() {
            JdbcDataSource h2 = new JdbcDataSource();
            h2.setUrl("jdbc:h2:mem:permits;DB_CLOSE_DELAY=-1");
            return h2;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class Pooled {

        @Bean
        HikariDataSource dataSource() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:none");
            return pool;
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        VirtualThreadAutoConfiguration.class,
        VirtualThreadDoorAutoConfiguration.class,
        VirtualThreadWebMvcAutoConfiguration.class
    })
    static class Web {}

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(proxyTargetClass = true)
    @ImportAutoConfiguration({
        VirtualThreadAutoConfiguration.class,
        VirtualThreadAsyncAutoConfiguration.class,
        TaskExecutionAutoConfiguration.class
    })
    @Import({AsyncMailer.class, AsksForReports.class})
    static class Asynchronous {

        @Bean
        @Qualifier("reports")
        ThreadPoolTaskExecutor pool() {
            return new ThreadPoolTaskExecutor();
        }
    }

    static class AsyncMailer {

        @Async
        CompletableFuture<String> send() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    record AsksForReports(@Qualifier("reports") Executor executor) {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({VirtualThreadAutoConfiguration.class, VirtualThreadBoot3HealthAutoConfiguration.class})
    static class Healthy {}
}
