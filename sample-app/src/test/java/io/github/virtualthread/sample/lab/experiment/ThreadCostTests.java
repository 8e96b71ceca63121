package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.LabRun;
import io.github.virtualthread.sample.lab.LabRun.Point;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
@Tag("slow")
class ThreadCostTests {

    @Test
    void aParkedVirtualThreadTakesHeapAndLittleElse(@Autowired Lab lab) throws Exception {
        Answer answer = lab.start(
                        "thread-cost",
                        Map.of("platform", "800", "virtual", "3000", "switches", "2000", "rounds", "3"),
                        Scale.SMALL)
                .answer()
                .get(10, TimeUnit.MINUTES);

        Row platform = answer.row(ThreadCost.PLATFORM);
        Row virtual = answer.row(ThreadCost.VIRTUAL);
        assertThat(virtual.median("heap")).isGreaterThan(200).isLessThan(20_000);
        for (Row row : List.of(platform, virtual)) {
            assertThat(row.median("switch")).as(row.name()).isPositive();
            assertThat(row.median("start")).as(row.name()).isPositive();
        }
        boolean known = Files.isReadable(Path.of("/proc/self/smaps"));
        assertThat(NativeMemory.resident().isPresent()).isEqualTo(known);
        if (known) {
            assertThat(platform.median("resident")).isGreaterThan(virtual.median("resident"));
            assertThat(answer.sentence()).contains("outside of it");
            assertThat(answer.notes().getFirst()).contains("/proc/self/smaps");
        } else {
            assertThat(answer.notes().getFirst()).contains("not known here");
        }
        assertThat(parked()).isEmpty();
    }

    @Test
    void aDeeperStackTakesMoreOfTheHeap(@Autowired Lab lab) throws Exception {
        double shallow = heap(lab, 0);

        assertThat(heap(lab, 200)).isGreaterThan(shallow + 1_000);
    }

    @Test
    void aCancelledRunLeavesNoThread(@Autowired Lab lab) throws Exception {
        CountDownLatch parked = new CountDownLatch(1);
        LabRun run = lab.start(
                "thread-cost",
                Map.of("platform", "300", "virtual", "1", "switches", "1000000", "rounds", "10"),
                Scale.SMALL);
        run.listen(event -> {
            if (event instanceof Point point && point.y() == 300) {
                parked.countDown();
            }
        });
        assertThat(parked.await(2, TimeUnit.MINUTES)).isTrue();

        run.cancel();

        assertThat(run.answer().handle((answer, failure) -> failure != null))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(true);
        for (Thread left : parked()) {
            assertThat(left.join(Duration.ofMinutes(2))).as(left.getName()).isTrue();
        }
    }

    private static double heap(Lab lab, int depth) throws Exception {
        return lab.start(
                        "thread-cost",
                        Map.of(
                                "platform",
                                "1",
                                "virtual",
                                "2000",
                                "switches",
                                "1000",
                                "rounds",
                                "1",
                                "depth",
                                String.valueOf(depth)),
                        Scale.SMALL)
                .answer()
                .get(10, TimeUnit.MINUTES)
                .row(ThreadCost.VIRTUAL)
                .median("heap");
    }

    private static List<Thread> parked() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(ThreadCost.NAME))
                .toList();
    }
}
