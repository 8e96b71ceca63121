package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.test.context.TestPropertySource;

@SampleTest
@TestPropertySource(properties = "scarce.connections=5")
class ScarceResourceTests {

    @Test
    void withoutALimitCallsFailAndWithOneNone(@Autowired Lab lab, @Autowired TaskLimits limits) throws Exception {
        assertThat(limits.get("scarce").permits()).isEqualTo(5);

        // 12 turns of 100 ms at five connections; a connection may be waited for through half of them
        Answer answer = lab.start(
                        "scarce-resource",
                        Map.of("users", "60", "millis", "100", "timeout", "600", "wait", "300", "rounds", "1"),
                        Scale.SMALL)
                .answer()
                .get(25, TimeUnit.SECONDS);

        assertThat(failed(answer, ScarceResource.UNLIMITED)).isPositive();
        for (String limited : List.of(
                ScarceResource.PATIENT,
                ScarceResource.CONCURRENCY_LIMIT,
                ScarceResource.VIRTUAL,
                ScarceResource.LIMITED,
                ScarceResource.VIRTUAL_BOUNDED,
                ScarceResource.LIMITED_BOUNDED)) {
            assertThat(failed(answer, limited)).as(limited).isZero();
        }
        assertThat(answer.row(ScarceResource.VIRTUAL).median("done")).isEqualTo(60);
        assertThat(answer.row(ScarceResource.LIMITED).median("done")).isEqualTo(60);
        for (String bounded : List.of(ScarceResource.VIRTUAL_BOUNDED, ScarceResource.LIMITED_BOUNDED)) {
            assertThat(answer.row(bounded).median("rejected")).as(bounded).isPositive();
            assertThat(answer.row(bounded).median("done") + answer.row(bounded).median("rejected"))
                    .isEqualTo(60);
            assertThat(answer.row(bounded).median("most"))
                    .isLessThan(answer.row(ScarceResource.VIRTUAL).median("most"));
        }
        assertThat(answer.sentence()).contains("with one 0, at ");
        assertThat(answer.charts()).hasSize(8);
        assertThat(limits.get("scarce").maxWait()).isNull();
    }

    @Test
    void theProductPageKeepsItsOwnDatabase(@Autowired DataSource products) throws Exception {
        assertThat(((HikariDataSource) products).getJdbcUrl()).doesNotContain("scarce");
    }

    private static double failed(Answer answer, String way) {
        return answer.row(way).median("failed");
    }
}
