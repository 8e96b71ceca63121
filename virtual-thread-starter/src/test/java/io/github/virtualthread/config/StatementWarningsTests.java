package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.argumentSet;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadDoorAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadWebMvcAutoConfiguration;
import io.github.virtualthread.jdbc.HikariStatements;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitsFrom;
import io.github.virtualthread.limit.PermitsSource;
import io.github.virtualthread.pool.PoolSizes;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What the start says of timeouts and deadlines that close connections. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class StatementWarningsTests {

    private static final String INTERRUPTED =
            " are interrupted when their timeout or deadline passes: that closes their"
                    + " connection, and the database goes on with the query. ";

    private final String url = "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID();
    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(VirtualThreadAutoConfiguration.class, DataSourceAutoConfiguration.class))
            .withPropertyValues(url, "virtual-thread.limits.db.permits-from=dataSource");

    @Test
    void methodsThatAreInterruptedAreNamedOnceForEachLimit(CapturedOutput output) {
        runner.withBean(Prices.class)
                .withBean(Stock.class)
                .withPropertyValues("virtual-thread.limits.report.permits=2", "virtual-thread.limits.report.within=db")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce("Calls under limit 'db' (Prices.find, Prices.quote, Prices.report)" + INTERRUPTED
                        + "Set virtual-thread.jdbc.cancel-statements=true")
                .containsOnlyOnce("are interrupted when");
    }

    @Test
    void theDefaultTimeoutIsATimeoutOfAllButLimitedMethods(CapturedOutput output) {
        runner.withBean(Stock.class)
                .withPropertyValues("virtual-thread.timeout=2s")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).containsOnlyOnce("Calls under limit 'db' (Stock.refill)" + INTERRUPTED);
    }

    @Test
    void manyMethodsAreCounted(CapturedOutput output) {
        runner.withBean(Many.class).run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsPattern("Calls under limit 'db' \\((Many\\.[a-g], ){4}Many\\.[a-g] and 2 more\\) are");
    }

    @Test
    void aDeadlineOfRequestsIsOneOfAllMethods(CapturedOutput output) {
        new WebApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadDoorAutoConfiguration.class,
                        VirtualThreadWebMvcAutoConfiguration.class,
                        DataSourceAutoConfiguration.class))
                .withPropertyValues(
                        url, "virtual-thread.limits.db.permits-from=dataSource", "virtual-thread.web.deadline=5s")
                .withBean(Stock.class)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).containsOnlyOnce("Calls under limit 'db' (Stock.refill)" + INTERRUPTED);
    }

    @ParameterizedTest
    @MethodSource("safe")
    void noMethodIsNamed(Class<?> methods, String[] properties, CapturedOutput output) {
        runner.withBean(methods)
                .withBean("clients", PermitsSource.class, () -> () -> 7)
                .withPropertyValues(properties)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("are interrupted when");
    }

    static Stream<Arguments> safe() {
        return Stream.of(
                safe("without timeout and deadline", Stock.class),
                safe(
                        "under a limit with numbers of its own",
                        Prices.class,
                        "virtual-thread.limits.db.permits-from=clients",
                        "virtual-thread.limits.report.permits=2"),
                safe("that is not intercepted", Many.class, "virtual-thread.enabled=false"),
                safe("if statements are cancelled", Many.class, "virtual-thread.jdbc.cancel-statements=true"));
    }

    private static Arguments safe(String name, Class<?> methods, String... properties) {
        return argumentSet(name, methods, properties);
    }

    @Test
    void aPoolThatCannotBeCoveredNeedsMoreThanTheSwitch(CapturedOutput output) {
        runner.withBean(Prices.class)
                .withUserConfiguration(Begun.class)
                .withPropertyValues(
                        "virtual-thread.jdbc.cancel-statements=true", "virtual-thread.limits.report.permits=2")
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce("Statements of bean 'dataSource' are not cancelled: ")
                .containsOnlyOnce("Calls under limit 'db' (Prices.find, Prices.quote)" + INTERRUPTED
                        + "Put a CancellableDataSource below the pool of bean 'dataSource', because HikariStatements could"
                        + " not reach it");
    }

    @Test
    void withoutSpringBootABeanIsMissing(CapturedOutput output) {
        try (var context = new AnnotationConfigApplicationContext(Plain.class)) {
            assertThat(HikariStatements.isCovered(context.getBean(DataSource.class)))
                    .isFalse();
        }

        assertThat(output)
                .containsOnlyOnce("Calls under limit 'db' (Many.a, ")
                .containsOnlyOnce("Declare a static @Bean method that returns a HikariStatements");
    }

    @Test
    void withoutSpringBootABeanCoversThePool(CapturedOutput output) {
        try (var context = new AnnotationConfigApplicationContext(Plain.class, Covered.class)) {
            assertThat(HikariStatements.isCovered(context.getBean(DataSource.class)))
                    .isTrue();
        }

        assertThat(output).doesNotContain("are interrupted when").doesNotContain("not cancelled");
    }

    static class Prices {

        @VirtualThread(limit = "db", timeout = "2s")
        public void find() {}

        @VirtualThread(limit = "db", deadline = "2s")
        public void quote() {}

        @VirtualThread(limit = "report", timeout = "2s")
        public void report() {}
    }

    static class Stock {

        @VirtualThread("db")
        public void refill() {}

        @Limited(value = "db", deadline = "2s")
        public void count() {}
    }

    @VirtualThread(limit = "db", timeout = "2s")
    static class Many {

        public void a() {}

        public void b() {}

        public void c() {}

        public void d() {}

        public void e() {}

        public void f() {}

        public void g() {}
    }

    @Configuration(proxyBeanMethods = false)
    static class Begun {

        @Bean
        DataSource dataSource() {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
            config.setMaximumPoolSize(1);
            return new HikariDataSource(config);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Plain {

        @Bean
        HikariDataSource pool() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
            return pool;
        }

        @Bean
        PoolSizes sizes() {
            return pool -> OptionalInt.of(4);
        }

        @Bean
        LimitSettings db() {
            return LimitSettings.of("db", 1).withPermitsFrom(new PermitsFrom("pool", 0));
        }

        @Bean
        Many many() {
            return new Many();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Covered {

        @Bean
        static HikariStatements statements() {
            return new HikariStatements();
        }
    }
}
