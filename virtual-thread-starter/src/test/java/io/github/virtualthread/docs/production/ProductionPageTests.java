package io.github.virtualthread.docs.production;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadMetricsAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadObservationAutoConfiguration;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.docs.Pages;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.prometheus.PrometheusMetricsExportAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.PropertySource;

/** With the settings of production.md Prometheus finds what the first alert asks for. */
@Timeout(300)
class ProductionPageTests {

    @Test
    void theSettingsBoundTheLimitAndFeedTheAlert() {
        String yaml = Pages.blocks("yaml")
                .filter(block -> block.directive().equals("production"))
                .findFirst()
                .orElseThrow()
                .text();
        PropertySource<?> page = Pages.properties("page", yaml);
        assertThat(String.valueOf(page.getProperty("management.endpoints.web.exposure.include")))
                .contains("prometheus");
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadMetricsAutoConfiguration.class,
                        VirtualThreadObservationAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        MetricsAutoConfiguration.class,
                        CompositeMeterRegistryAutoConfiguration.class,
                        PrometheusMetricsExportAutoConfiguration.class))
                .withBean("dataSource", DataSource.class, ProductionPageTests::pool)
                .withInitializer(
                        context -> context.getEnvironment().getPropertySources().addFirst(page))
                .run(context -> {
                    TaskLimit db = context.getBean(TaskLimits.class).get("db");
                    assertThat(db.permits()).isEqualTo(8);
                    assertThat(db.queueCapacity()).isEqualTo(200);
                    assertThat(context.getBean(VirtualThreadProperties.class).timeout())
                            .as("before Tomcat ends the request")
                            .isLessThan(Duration.ofSeconds(30));
                    assertThat(context.getBean(PrometheusMeterRegistry.class).scrape())
                            .contains("virtual_thread_limit_saturated_seconds{application=\"shop\",limit=\"db\"}");
                });
        assertThat(Pages.text("docs/prometheus-rules.yml")).contains("virtual_thread_limit_saturated_seconds > 60");
    }

    private static DataSource pool() {
        HikariDataSource pool = new HikariDataSource(); // of 10 connections, none of them opened
        pool.setJdbcUrl("jdbc:none");
        return pool;
    }
}
