package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
@Tag("slow")
class LimitWhileItRunsTests {

    @Test
    void moreRunAtOnceWhileThereAreMorePermits(@Autowired VirtualThreads threads, @Autowired TaskLimits limits)
            throws Exception {
        int before = limits.get("lab").permits();
        MetCalls calls = new MetCalls(threads, limits.get("lab"));
        Watched watched = new Watched() {
            @Override
            public void progress(double done, String text) {
                if (text.equals("20 permits")) {
                    calls.grown.countDown();
                }
            }
        };

        Answer answer = run(new LimitWhileItRuns(calls, limits), watched);

        List<Row> rows = answer.rows();
        assertThat(rows)
                .extracting(Row::name)
                .containsExactly("first, 2 permits", "then, 20 permits", "last, 1 permits");
        assertThat(calls.twenty.getCount()).as("calls that did not meet").isZero();
        // two permits, 50 ms each
        assertThat(rows.get(0).median("done")).isLessThanOrEqualTo(2 * 20);
        // one permit: and what still ran of before
        assertThat(rows.get(2).median("done")).isLessThanOrEqualTo(20 + 20);
        assertThat(rows.get(2).median("waiting")).isPositive();
        assertThat(rows.stream().mapToDouble(row -> row.median("done")).sum()).isPositive();
        assertThat(answer.sentence())
                .containsPattern(
                        "^When the limit grew from 2 to 20 permits, 18 of the \\d+ waiting calls started at once\\. ")
                .containsPattern("When it shrank from 20 to 1 permits, \\d+ calls were running and none was ended\\.$");
        assertThat(answer.notes().getFirst())
                .startsWith("Completed per second: ")
                .doesNotContain("meanwhile");
        assertThat(answer.right()).isEqualTo(LimitWhileItRuns.WAITING_START);
        assertThat(watched.points("permits")).isSubsetOf(2.0, 20.0, 1.0).last().isEqualTo(1.0);
        assertThat(watched.points("running")).allMatch(running -> running <= 20);
        assertThat(limits.get("lab").permits()).isEqualTo(before);
    }

    @Test
    void aPhaseWhoseLimitSomebodyElseResizedSaysSo(@Autowired LimitWhileItRuns experiment, @Autowired TaskLimits limits)
            throws Exception {
        Answer answer = run(experiment, new Watched() {
            @Override
            public void progress(double done, String text) {
                if (text.equals("20 permits")) {
                    limits.get("lab").resize(7);
                }
            }
        });

        assertThat(answer.sentence() + answer.notes().getFirst())
                .contains(
                        " with 2 permits, ",
                        " with 20 permits (you changed the limit meanwhile), ",
                        " with 1 permits.");
        assertThat(answer.rows())
                .extracting(Row::name)
                .containsExactly(
                        "first, 2 permits", "then, 20 permits (you changed the limit meanwhile)", "last, 1 permits");
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
        assertThat(full.await(2, TimeUnit.MINUTES)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
        assertThat(limits.get("lab").permits()).isEqualTo(before);
        assertThat(limits.get("lab").waiting()).isZero();
    }

    private static Answer run(LimitWhileItRuns experiment, Watched watched) throws Exception {
        Map<String, String> chosen =
                Map.of("rate", "200", "millis", "50", "first", "2", "then", "20", "last", "1", "seconds", "1");
        return experiment.run(new Run(Settings.of(experiment.about().parameters(), chosen, Scale.SMALL), watched));
    }

    /**
     * Calls that, while there are twenty permits, go on only when twenty of them run; and whose caller is late once. Two run while
     * the limit grows: they have stopped before, and go on when it is done.
     */
    private static final class MetCalls extends LimitedCalls {

        private final CountDownLatch stopped = new CountDownLatch(2);
        private final CountDownLatch grown = new CountDownLatch(1);
        private final CountDownLatch twenty = new CountDownLatch(20);
        private final AtomicInteger made = new AtomicInteger();
        private final VirtualThreads threads;
        private final TaskLimit limit;

        MetCalls(VirtualThreads threads, TaskLimit limit) {
            this.threads = threads;
            this.limit = limit;
        }

        @Override
        CompletableFuture<Void> call(Duration time) throws InterruptedException {
            if (made.incrementAndGet() == 100) {
                Thread.sleep(1_000); // the first phase is half over, and calls go on
                assertThat(stopped.await(2, TimeUnit.MINUTES)).isTrue();
            }
            return threads.submit(limit.name(), () -> {
                if (limit.permits() == 20) {
                    twenty.countDown();
                    boolean unused = twenty.await(2, TimeUnit.MINUTES);
                }
                Thread.sleep(time);
                if (made.get() >= 100) {
                    stopped.countDown();
                    boolean unused = grown.await(2, TimeUnit.MINUTES);
                }
                return null;
            });
        }
    }

    /** Remembers the points. */
    private static class Watched extends Unwatched {

        private final List<Point> points = new CopyOnWriteArrayList<>();

        @Override
        public void point(String line, double x, double y) {
            points.add(new Point(line, x, y));
        }

        List<Double> points(String line) {
            return points.stream()
                    .filter(point -> point.line().equals(line))
                    .map(Point::y)
                    .toList();
        }
    }
}
