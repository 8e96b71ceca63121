package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Web;
import io.github.virtualthread.jdbc.CancellableDataSource;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.datasource.SimpleDriverDataSource;

/** What the start says of clients that may end their calls. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class DoorWarningsTests {

    private static final String WARNING = "Clients may end their calls by ";
    private static final String CANCEL = "virtual-thread.web.cancel-abandoned=true";

    private final WebApplicationContextRunner runner = new WebApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    VirtualThreadAutoConfiguration.class, VirtualThreadDoorAutoConfiguration.class));

    private final WebApplicationContextRunner withPool =
            runner.withBean("pool", DataSource.class, SimpleDriverDataSource::new);

    @ParameterizedTest
    @CsvSource({"virtual-thread.web.cancel-abandoned, true", "virtual-thread.web.deadline-header, X-Request-Timeout-Ms"
    })
    void whatAClientMayDoToAPoolIsAWarning(String key, String value, CapturedOutput output) {
        withPool.withPropertyValues(key + "=" + value)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .containsOnlyOnce(WARNING + key
                        + ": each query that is interrupted closes its connection, and the database goes on with it. Set"
                        + " virtual-thread.jdbc.cancel-statements=true");
    }

    @Test
    void withoutADataSourceThereIsNothingToClose(CapturedOutput output) {
        runner.withPropertyValues(CANCEL).run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @ParameterizedTest
    @ValueSource(strings = {"virtual-thread.jdbc.cancel-statements=true", "virtual-thread.web.cancel-abandoned=false"})
    void neitherIsThereWhereStatementsAreCancelledOrNobodyCanDoIt(String property, CapturedOutput output) {
        withPool.withPropertyValues("virtual-thread.web.deadline=5s", CANCEL, property)
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain(WARNING);
    }

    @Test
    void aDataSourceWhoseStatementsAreCancelledByHandIsNone(CapturedOutput output) {
        runner.withPropertyValues(CANCEL)
                .withBean("pool", DataSource.class, () -> new CancellableDataSource(SimpleDriverDataSource::new))
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).doesNotContain(WARNING);

        withPool.withPropertyValues(CANCEL)
                .withBean("other", DataSource.class, () -> new CancellableDataSource(SimpleDriverDataSource::new))
                .run(context -> assertThat(context).hasNotFailed());
        assertThat(output).contains(WARNING);
    }

    @Test
    void aSystemWithoutATableIsARemark() {
        assertThat(settings(true, false).remarks())
                .containsExactly(
                        "virtual-thread.web.cancel-abandoned has less effect here than on Linux: there is no /proc/self/net/tcp to"
                                + " tell of clients that have gone, so only those count of which the server tells, with HTTP/1.1"
                                + " when a write fails");
        assertThat(settings(true, true).remarks()).isEmpty();
        assertThat(settings(false, false).remarks()).isEmpty();
    }

    private static DoorSettings settings(boolean cancelAbandoned, boolean tellsOfClients) {
        Web web = new Web(
                null,
                null,
                Duration.ofSeconds(5),
                List.of(),
                0,
                "503",
                "503",
                Duration.ofSeconds(1),
                null,
                cancelAbandoned);
        return new DoorSettings(web, true, () -> false, () -> tellsOfClients);
    }

    @EnabledOnOs(OS.LINUX)
    @Test
    void onLinuxThereIsATable(CapturedOutput output) {
        runner.withPropertyValues(CANCEL).run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("has less effect here");
    }
}
