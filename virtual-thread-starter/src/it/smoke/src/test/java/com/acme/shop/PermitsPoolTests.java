package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import io.github.virtualthread.config.VirtualThreadDataSource;
import io.github.virtualthread.execution.VirtualThreads;
import java.lang.reflect.Method;
import java.util.Arrays;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.util.ReflectionUtils;

/** A limit that all replicas share, by a pool that nobody else is given. */
@DisabledIfSystemProperty(
        named = "expected.aot",
        matches = "true",
        disabledReason = "starts applications that were not processed ahead of time")
@Timeout(300)
class PermitsPoolTests {

    @Test
    void theEngineIsGivenThePoolThatIsItsOwn() {
        try (ConfigurableApplicationContext context = started(
                "--virtual-thread.limits.partner.cluster-permits=20",
                "--virtual-thread.cluster.replicas=3",
                "--spring.application.name=shop")) {
            JdbcClusterStore store =
                    (JdbcClusterStore) context.getBean(StoredLimits.class).store();

            assertThat(store.dataSource()).isSameAs(context.getBean("permits"));
            assertThat(context.getBean(DataSource.class)).isSameAs(context.getBean("dataSource"));
            assertThat(context.getBean(VirtualThreads.class)
                            .submit("partner", () -> "done")
                            .join())
                    .isEqualTo("done");
            assertThat(health(context)).isNotNull();
        }
    }

    @Test
    void thereIsNoHealthIfNoLimitIsShared() {
        try (ConfigurableApplicationContext context = started()) {
            assertThat(health(context)).isNull();
        }
    }

    private static ConfigurableApplicationContext started(String... properties) {
        return new SpringApplicationBuilder(Shop.class)
                .web(WebApplicationType.NONE)
                .properties("virtual-thread.cluster.jdbc.table=shop_permits")
                .run(concat(properties, "--virtual-thread.health.saturated-after="));
    }

    private static String[] concat(String[] properties, String last) {
        String[] all = Arrays.copyOf(properties, properties.length + 1);
        all[properties.length] = last;
        return all;
    }

    /** By name: Spring Boot 4 has its health types in another package. */
    private static Object health(ConfigurableApplicationContext context) {
        Object registry = context.getBean("healthContributorRegistry");
        Method method = ReflectionUtils.findMethod(registry.getClass(), "getContributor", String.class);
        ReflectionUtils.makeAccessible(method);
        return ReflectionUtils.invokeMethod(method, registry, "virtualThreads");
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Shop {

        @Bean(defaultCandidate = false)
        @VirtualThreadDataSource
        HikariDataSource permits() {
            HikariDataSource pool = new HikariDataSource();
            pool.setJdbcUrl("jdbc:h2:mem:permits");
            pool.setMaximumPoolSize(2);
            return pool;
        }
    }
}
