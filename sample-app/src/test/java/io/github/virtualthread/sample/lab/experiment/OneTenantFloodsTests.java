package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
@Tag("slow")
class OneTenantFloodsTests {

    private static final int CAP = 3;

    @Autowired
    private TaskLimits limits;

    @Test
    void othersWaitForTheWholeFloodOnlyInOneQueue(@Autowired OneTenantFloods experiment) throws Exception {
        TaskLimit capped = limits.get("capped-tenants");
        Queue<Integer> ofTheFlood = new ConcurrentLinkedQueue<>();
        Map<String, String> chosen =
                Map.of("flood", "2000", "rate", "100", "seconds", "1", "millis", "20", "cap", String.valueOf(CAP));

        Answer answer = experiment.run(
                new Run(Settings.of(experiment.about().parameters(), chosen, Scale.SMALL), new Unwatched() {
                    @Override
                    public void point(String line, double x, double y) {
                        if (line.equals(OneTenantFloods.CAP)) {
                            ofTheFlood.add(capped.key("flood").running());
                        }
                    }
                }));

        List<Row> rows = answer.rows();
        String[] names = {OneTenantFloods.ONE_QUEUE, OneTenantFloods.TURNS, OneTenantFloods.WEIGHT, OneTenantFloods.CAP
        };
        assertThat(rows).extracting(Row::name).containsExactly(names);
        double inOneQueue = waited(answer, OneTenantFloods.ONE_QUEUE);
        assertThat(waited(answer, OneTenantFloods.TURNS)).isLessThan(inOneQueue / 2);
        assertThat(waited(answer, OneTenantFloods.WEIGHT)).isLessThan(inOneQueue / 2);
        assertThat(waited(answer, OneTenantFloods.CAP)).isLessThan(inOneQueue / 2);
        assertThat(answer.row(OneTenantFloods.CAP).median(OneTenantFloods.FLOOD_DONE.key()))
                .isPositive();
        assertThat(ofTheFlood).contains(CAP).allMatch(running -> running <= CAP);
        List<Line> lines = answer.charts().getFirst().lines();
        assertThat(lines).extracting(Line::name).containsExactly(names);
        assertThat(lines)
                .allSatisfy(line -> assertThat(line.points()).as(line.name()).hasSize(100));
        assertThat(answer.sentence())
                .startsWith("Beside 2,000 calls of one tenant, half of the calls of 10 others waited at most ")
                .contains(" with turns, ", " with a weight, and ", " with a cap of 3.");
        assertThat(capped.permitsPerKey()).isEqualTo(5);
        assertThat(limits.get("tenants").waiting()).isZero();
        assertThat(limits.get("weighted-tenants").waiting()).isZero();
        assertThat(capped.waiting()).isZero();
    }

    @Test
    void aCancelledRunLeavesNoCallsAndTheCapAsItWas(@Autowired Lab lab) throws Exception {
        CountDownLatch full = new CountDownLatch(1);
        LabRun run = lab.start("one-tenant-floods", Map.of("flood", "20000", "millis", "100"), Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point) {
                full.countDown();
            }
        });
        assertThat(full.await(2, TimeUnit.MINUTES)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
        assertThat(limits.get("tenants").waiting()).isZero();
        assertThat(limits.get("capped-tenants").permitsPerKey()).isEqualTo(5);
    }

    private static double waited(Answer answer, String contender) {
        return answer.row(contender).median(OneTenantFloods.WAITED.key());
    }
}
