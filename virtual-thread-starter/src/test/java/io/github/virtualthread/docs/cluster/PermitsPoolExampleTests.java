package io.github.virtualthread.docs.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.autoconfigure.VirtualThreadClusterAutoConfiguration;
import io.github.virtualthread.cluster.StoredLimits;
import io.github.virtualthread.cluster.jdbc.JdbcClusterStore;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The example of docs/cluster.md that gives the engine a pool of its own. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class PermitsPoolExampleTests {

    @Test
    void theEngineHasAPoolOfItsOwnInTheDatabaseOfTheApplication(CapturedOutput output) {
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        DataSourceAutoConfiguration.class,
                        VirtualThreadAutoConfiguration.class,
                        VirtualThreadClusterAutoConfiguration.class))
                .withUserConfiguration(PermitsPool.class)
                .withPropertyValues(
                        "spring.application.name=shop",
                        "virtual-thread.limits.partner.cluster-permits=20",
                        "virtual-thread.cluster.replicas=3",
                        "virtual-thread.limits.db.permits-from=dataSource")
                .run(context -> {
                    HikariDataSource usual = (HikariDataSource) context.getBean(DataSource.class);
                    assertThat(usual.getMaximumPoolSize()).isEqualTo(10);
                    assertThat(((JdbcClusterStore)
                                            context.getBean(StoredLimits.class).store())
                                    .dataSource())
                            .isSameAs(context.getBean("permits"))
                            .isNotSameAs(usual);
                    assertThat(isInitialized(usual)).isTrue();
                });

        assertThat(output).doesNotContain("calls may hold all of them");
    }

    private static boolean isInitialized(DataSource pool) throws SQLException {
        return new JdbcClusterStore(pool, "shop").isInitialized();
    }
}
