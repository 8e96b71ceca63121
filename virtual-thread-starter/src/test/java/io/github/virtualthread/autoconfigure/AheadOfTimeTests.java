package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.config.EngineBeans;
import io.github.virtualthread.config.VirtualThreadDataSource;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import javax.sql.DataSource;
import javax.tools.ToolProvider;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.springframework.aot.generate.GeneratedFiles.Kind;
import org.springframework.aot.test.generate.TestGenerationContext;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.actuate.health.HealthIndicator;
import org.springframework.boot.actuate.health.Status;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.context.AnnotationConfigServletWebApplicationContext;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.AnnotationConfigRegistry;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.test.tools.CompileWithForkedClassLoader;
import org.springframework.core.test.tools.TestCompiler;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.web.context.support.GenericWebApplicationContext;

/** Applications processed ahead of time, compiled, and started from what was generated, under other properties. */
@Timeout(300)
@Tag("slow")
class AheadOfTimeTests {

    private static final Map<String, Object> LIMITS = Map.of("virtual-thread.limits.db.permits", "2");
    private static final Map<String, Object> OFF =
            Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.enabled", "false");
    private static final Map<String, Object> CANCELLING =
            Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.jdbc.cancel-statements", "true");
    private static final Map<String, Object> WITH_HEALTH =
            Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.health.saturated-after", "1s");
    private static final Map<String, Object> WEAVING =
            Map.of("virtual-thread.limits.db.permits", "2", "virtual-thread.mode", "aspectj");

    /** In a class loader of its own, where package-private classes see generated ones of their package. */
    @Test
    @CompileWithForkedClassLoader
    @EnabledIf(value = "isCompilerThere", disabledReason = "this Java runtime has no compiler")
    @Retention(RetentionPolicy.RUNTIME)
    @interface CompiledTest {}

    static boolean isCompilerThere() {
        return ToolProvider.getSystemJavaCompiler() != null;
    }

    @Test
    void generatedCodeNamesAnAnnotationThatItMayNotSee() throws Exception {
        assertThat(processed(OwnEnableVirtual.class, LIMITS)
                        .getGeneratedFiles()
                        .getGeneratedFileContent(
                                Kind.SOURCE,
                                VirtualThreadBeanPostProcessor.class.getName().replace('.', '/')
                                        + "__BeanDefinitions.java"))
                .contains("\"annotationType\", \"" + InBackground.class.getName() + "\"");
    }

    @CompiledTest
    void propertiesAreThoseOfTheStartAndNotOfTheBuild() {
        Map<String, Object> properties = Map.of(
                "virtual-thread.limits.db.permits", "7",
                "virtual-thread.limits.report.permits", "3",
                "virtual-thread.limits.report.within", "db",
                "virtual-thread.limits.report.permits-per-key", "2",
                "virtual-thread.limits.report.queue-capacity-per-key", "5");
        started(Shop.class, LIMITS, properties, context -> {
            assertThat(context.getBean(TaskLimits.class).get("db").permits()).isEqualTo(7);
            assertThat(context.getBean(TaskLimits.class).get("report"))
                    .hasToString(
                            "report (3 permits, 2 per key, within db, unbounded queue, 5 per key, unbounded wait)");
            assertThat(context.getBean(Mailer.class).send().join()).startsWith("vt-Mailer.send-");
        });
    }

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
    void keysAreRead() {
        started(Shop.class, LIMITS, LIMITS, context -> assertThat(context.getBean(Mailer.class)
                        .running("acme", context.getBean(TaskLimits.class))
                        .join())
                .isEqualTo(1));
    }

    @CompiledTest
    void mistakesInKeysFailTheStart() {
        assertThatThrownBy(() -> started(Misspelt.class, LIMITS, LIMITS, context -> {}))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("uses #tenat, but the parameters are [tenant]");
    }

    @CompiledTest
    void interceptionIsSwitchedOffAtTheStart() {
        String here = Thread.currentThread().getName();

        started(Shop.class, LIMITS, OFF, context -> assertThat(
                        context.getBean(Mailer.class).send().join())
                .isEqualTo(here));
    }

    @CompiledTest
    void interceptionIsSwitchedOnAtTheStart() {
        started(Shop.class, OFF, LIMITS, context -> assertThat(
                        context.getBean(Mailer.class).send().join())
                .startsWith("vt-"));
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
    void mistakesFailTheStart() {
        assertThatThrownBy(() -> started(Shop.class, LIMITS, Map.of(), context -> {}))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageContaining("Mailer.send asks for limit 'db'");
    }

    @CompiledTest
    void wrongPropertiesFailTheStart() {
        assertThatThrownBy(() ->
                        started(Shop.class, LIMITS, Map.of("virtual-thread.limits.db.permits", "two"), context -> {}))
                .isInstanceOf(VirtualThreadConfigurationException.class)
                .hasMessageStartingWith("virtual-thread.limits.db.permits must be a whole number");
    }

    @Test
    void wrongPropertiesDoNotFailTheBuild() {
        processed(Shop.class, Map.of("virtual-thread.limits.db.permits", "${db.permits}"));
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
    void theApplicationsOwnEnableVirtualKeepsItsAttributes() {
        started(OwnEnableVirtual.class, LIMITS, LIMITS, context -> {
            assertThat(context.getBean(Printer.class).print().join()).startsWith("vt-Printer.print-");
            assertThat(context.getBean(VirtualThreadBeanPostProcessor.class).getOrder())
                    .isEqualTo(7);
        });
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
    void scopedBeansAreCheckedOnceAndAdvised() {
        started(Scoped.class, LIMITS, LIMITS, context -> {
            assertThat(context.getBean(EngineBeans.class).advised())
                    .extracting(AdvisedMethod::name)
                    .containsExactly("Session.permits");
            assertThat(context.getBean(Session.class).permits(context.getBean(TaskLimits.class)))
                    .isEqualTo(1);
        });
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

    private static TestGenerationContext processed(Class<?> application, Map<String, Object> properties) {
        return processed(new AnnotationConfigApplicationContext(), application, properties);
    }

    private static <C extends GenericApplicationContext & AnnotationConfigRegistry> TestGenerationContext processed(
            C context, Class<?> application, Map<String, Object> properties) {
        TestGenerationContext generation = new TestGenerationContext();
        System.setProperty(AbstractAotProcessor.AOT_PROCESSING, "true");
        try (context) {
            properties(context, properties);
            context.register(application);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        } finally {
            System.clearProperty(AbstractAotProcessor.AOT_PROCESSING);
        }
        generation.writeGeneratedContent();
        return generation;
    }

    private static void started(
            Class<?> application,
            Map<String, Object> whenBuilt,
            Map<String, Object> whenStarted,
            Consumer<GenericApplicationContext> then) {
        started(processed(application, whenBuilt), new GenericApplicationContext(), whenStarted, then);
    }

    private static void started(
            TestGenerationContext generation,
            GenericApplicationContext fresh,
            Map<String, Object> whenStarted,
            Consumer<GenericApplicationContext> then) {
        TestCompiler.forSystem().with(generation).compile(compiled -> {
            try (fresh) {
                properties(fresh, whenStarted);
                initializer(compiled.getAllCompiledClasses().stream()
                                .filter(ApplicationContextInitializer.class::isAssignableFrom)
                                .findFirst()
                                .orElseThrow())
                        .initialize(fresh);
                fresh.refresh();
                then.accept(fresh);
            }
        });
    }

    @SuppressWarnings("unchecked")
    private static ApplicationContextInitializer<GenericApplicationContext> initializer(Class<?> type) {
        try {
            return (ApplicationContextInitializer<GenericApplicationContext>)
                    type.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException failure) {
            throw new IllegalStateException(failure);
        }
    }

    private static void properties(GenericApplicationContext context, Map<String, Object> properties) {
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Mailer.class)
    static class Shop {}

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
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    static class Misspelt {

        @VirtualThread(limit = "db", key = "#tenat")
        void send(String tenant) {}
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

    static class Mailer {

        @VirtualThread(limit = "db", key = "#tenant.toString()")
        CompletableFuture<Integer> running(String tenant, TaskLimits limits) {
            return CompletableFuture.completedFuture(
                    limits.get("db").key(tenant).running());
        }

        @VirtualThread("db")
        CompletableFuture<String> send() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @EnableVirtual(annotation = InBackground.class, order = 7)
    @Import(Printer.class)
    static class OwnEnableVirtual {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({VirtualThreadAutoConfiguration.class, VirtualThreadBoot3HealthAutoConfiguration.class})
    static class Healthy {}

    @Retention(RetentionPolicy.RUNTIME)
    @interface InBackground {}

    static class Printer {

        @InBackground
        CompletableFuture<String> print() {
            return CompletableFuture.completedFuture(Thread.currentThread().getName());
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(VirtualThreadAutoConfiguration.class)
    @Import(Session.class)
    static class Scoped {}

    @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
    static class Session {

        @Limited("db")
        int permits(TaskLimits limits) {
            return limits.get("db").available();
        }
    }
}
