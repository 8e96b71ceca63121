package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
class ThreadLocalsTests {

    @Test
    void onlyThreadsThatAreKeptShowATaskTheValueOfAnother(@Autowired Lab lab) throws Exception {
        Answer answer = lab.start(
                        "thread-locals",
                        Map.of("few", "10", "many", "1000", "bytes", "10000", "rounds", "1"),
                        Scale.SMALL)
                .answer()
                .get(10, TimeUnit.MINUTES);

        assertThat(answer.rows()).hasSize(4);
        assertThat(answer.row(ThreadLocals.POOL).median(ThreadLocals.FOREIGN.key()))
                .isEqualTo(1_000 - 50);
        assertThat(answer.rows().stream().skip(1)).allSatisfy(row -> assertThat(row.median(ThreadLocals.FOREIGN.key()))
                .as(row.name())
                .isZero());
        // 1,000 buffers of 10,000 bytes are 9.5 MB
        assertThat(answer.row("1,000 virtual threads").median(ThreadLocals.RUNNING.key()))
                .isGreaterThan(9);
        assertThat(answer.row(ThreadLocals.LIMITED).median(ThreadLocals.RUNNING.key()))
                .isLessThan(9);
        assertThat(answer.right()).isEqualTo(ThreadLocals.POOL_ONLY);
    }
}
