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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
@Timeout(60) // other JVMs start, and where many things run at once they take their time
class OneCarrierTests {

    private final Set<ProcessHandle> before = ProcessHandle.current().children().collect(Collectors.toSet());

    @Test
    void oneCarrierServesAllUsersWhileOnePlatformThreadServesOne(@Autowired Lab lab) throws Exception {
        Answer answer = lab.start(
                        "one-carrier",
                        Map.of("users", "20", "millis", "200", "seconds", "2", "rounds", "1"),
                        Scale.SMALL)
                .answer()
                .get(50, TimeUnit.SECONDS);

        Answer.Row platform = answer.row(OneCarrier.PLATFORM);
        Answer.Row virtual = answer.row(OneCarrier.VIRTUAL);
        assertThat(virtual.median("rate")).isGreaterThan(5 * platform.median("rate"));
        // one after the other, each of them blocked
        assertThat(platform.median("rate")).isPositive().isLessThanOrEqualTo(1_000 / 200);
        assertThat(platform.median("timedOut")).isPositive();
        assertThat(virtual.median("timedOut")).isLessThan(platform.median("timedOut"));
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
                    .hasSizeGreaterThan(5)
                    .allSatisfy(point -> assertThat(point[1]).isNotNegative()));
        }
        assertThat(falls(answer.charts().getLast(), OneCarrier.VIRTUAL))
                .as("collections seen")
                .isPositive();
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
        assertThat(served.await(50, TimeUnit.SECONDS)).isTrue();
        assertThat(children()).hasSize(2);

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(10, TimeUnit.SECONDS)
                .isEqualTo(true);
        assertThat(children()).isEmpty();
    }

    /** How often the line goes down. */
    private static int falls(Answer.Chart chart, String name) {
        List<double[]> points = chart.lines().stream()
                .filter(line -> line.name().equals(name))
                .findFirst()
                .orElseThrow()
                .points();
        int falls = 0;
        for (int i = 1; i < points.size(); i++) {
            falls += points.get(i)[1] < points.get(i - 1)[1] ? 1 : 0;
        }
        return falls;
    }

    private List<ProcessHandle> children() {
        return ProcessHandle.current()
                .children()
                .filter(child -> !before.contains(child))
                .toList();
    }
}
