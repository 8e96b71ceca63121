package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
@Tag("slow")
class OneCarrierTests {

    private final Set<ProcessHandle> before = ProcessHandle.current().children().collect(Collectors.toSet());

    @Test
    void oneCarrierServesAllUsersWhileOnePlatformThreadServesOne(@Autowired Lab lab) throws Exception {
        Answer answer = lab.start(
                        "one-carrier",
                        Map.of("users", "20", "millis", "200", "seconds", "4", "rounds", "1"),
                        Scale.SMALL)
                .answer()
                .get(10, TimeUnit.MINUTES);

        Answer.Row platform = answer.row(OneCarrier.PLATFORM);
        Answer.Row virtual = answer.row(OneCarrier.VIRTUAL);
        // one after the other, each of them blocked
        assertThat(platform.median("rate")).isPositive().isLessThanOrEqualTo(1_000 / 200);
        assertThat(platform.median("timedOut")).isPositive();
        assertThat(virtual.median("rate")).isGreaterThan(1_000 / 200);
        for (Answer.Row row : List.of(platform, virtual)) {
            assertThat(row.median("servedBy")).as(row.name()).isEqualTo(1);
            assertThat(row.median("failed")).as(row.name()).isZero();
        }
        for (Answer.Chart chart : answer.charts()) {
            assertThat(chart.lines())
                    .as(chart.title())
                    .extracting(Line::name)
                    .containsExactlyInAnyOrder(OneCarrier.PLATFORM, OneCarrier.VIRTUAL);
            assertThat(chart.lines()).as(chart.title()).allSatisfy(line -> assertThat(line.points())
                    .isNotEmpty()
                    .allSatisfy(point -> assertThat(point[1]).isNotNegative()));
        }
        // new objects have two megabytes, so that they are collected
        assertThat(answer.charts().getLast().lines()).allSatisfy(line -> assertThat(line.points())
                .allSatisfy(point -> assertThat(point[1]).isLessThanOrEqualTo(2)));
        assertThat(answer.sentence())
                .startsWith("20 users got ")
                .contains("requests timed out) from one platform thread");
        assertThat(children()).isEmpty();
    }

    @Test
    void aCancelledRunLeavesNoProcess(@Autowired Lab lab) throws Exception {
        CountDownLatch served = new CountDownLatch(4); // drawn at intervals
        LabRun run = lab.start("one-carrier", Map.of("millis", "5000", "seconds", "30"), Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point) {
                served.countDown();
            }
        });
        assertThat(served.await(2, TimeUnit.MINUTES)).isTrue();
        assertThat(children()).hasSize(2);

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
        assertThat(children()).isEmpty();
    }

    private List<ProcessHandle> children() {
        return ProcessHandle.current()
                .children()
                .filter(child -> !before.contains(child))
                .toList();
    }
}
