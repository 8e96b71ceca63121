package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Event;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
class LimitWhileItRunsTests {

    @Test
    void moreIsDoneWhileThereAreMorePermits(@Autowired Lab lab, @Autowired TaskLimits limits) throws Exception {
        int before = limits.get("lab").permits();
        List<Event> events = new CopyOnWriteArrayList<>();
        LabRun run = lab.start(
                "limit-while-it-runs",
                Map.of("rate", "200", "millis", "50", "first", "2", "then", "20", "last", "1", "seconds", "1"),
                Scale.SMALL);
        run.listen(events::add);

        Answer answer = run.answer().get(20, TimeUnit.SECONDS);

        List<Row> rows = answer.rows();
        assertThat(rows)
                .extracting(Row::name)
                .containsExactly("first, 2 permits", "then, 20 permits", "last, 1 permits");
        assertThat(rows.get(0).median("done"))
                .isPositive()
                .isLessThan(rows.get(1).median("done"));
        // one permit, 50 ms each: and what still ran of before
        assertThat(rows.get(2).median("done")).isLessThanOrEqualTo(20 + 20);
        assertThat(rows.get(2).median("waiting")).isPositive();
        assertThat(answer.sentence())
                .startsWith("Calls came at 200 a second. So many were done a second: ")
                .doesNotContain("planned");
        assertThat(points(events, "permits")).contains(2.0, 20.0, 1.0);
        assertThat(points(events, "running")).allMatch(running -> running <= 20);
        assertThat(limits.get("lab").permits()).isEqualTo(before);
    }

    @Test
    void aPhaseWhoseLimitSomebodyElseResizedSaysSo(@Autowired Lab lab, @Autowired TaskLimits limits) throws Exception {
        LabRun run = lab.start(
                "limit-while-it-runs",
                Map.of("rate", "200", "millis", "10", "first", "2", "then", "20", "last", "1", "seconds", "1"),
                Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point point && point.line().equals("permits") && point.y() == 20) {
                limits.get("lab").resize(7);
            }
        });

        Answer answer = run.answer().get(20, TimeUnit.SECONDS);

        assertThat(answer.sentence()).contains(" with 2 permits, ", " with 20 permits planned, ", " with 1 permits.");
        assertThat(answer.rows())
                .extracting(Row::name)
                .containsExactly("first, 2 permits", "then, 20 permits planned", "last, 1 permits");
    }

    @Test
    void aCancelledRunLeavesNoCallsAndTheLimitAsItWas(@Autowired Lab lab, @Autowired TaskLimits limits)
            throws Exception {
        int before = limits.get("lab").permits();
        CountDownLatch full = new CountDownLatch(1);
        LabRun run = lab.start(
                "limit-while-it-runs",
                Map.of("rate", "1000", "millis", "5000", "first", "1", "seconds", "60"),
                Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point point && point.line().equals("waiting") && point.y() > 0) {
                full.countDown();
            }
        });
        assertThat(full.await(10, TimeUnit.SECONDS)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(10, TimeUnit.SECONDS)
                .isEqualTo(true);
        assertThat(limits.get("lab").permits()).isEqualTo(before);
        assertThat(limits.get("lab").waiting()).isZero();
    }

    private static List<Double> points(List<Event> events, String line) {
        return events.stream()
                .filter(Point.class::isInstance)
                .map(Point.class::cast)
                .filter(point -> point.line().equals(line))
                .map(Point::y)
                .toList();
    }
}
