package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Contender.Trial;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Sampler;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Draws what is promised and what is done, of one contender. */
final class FloodLines {

    static final String ANSWERED = "answered";
    static final String DONE = "really done";
    static final String REJECTED = "rejected";
    static final String BACKLOG = "backlog";

    private final Map<String, List<double[]>> lines = new LinkedHashMap<>();
    private final List<double[]> heap = new ArrayList<>();

    /** While something is measured. */
    Measurement draw(Run run, Flood flood, Tally tally, Trial trial) throws Exception {
        List.of(ANSWERED, DONE, REJECTED, BACKLOG).forEach(line -> {
            lines.put(line, new ArrayList<>());
            run.begin(line);
        });
        Sampler sampler = Sampler.every(Duration.ofMillis(50), seconds -> {
            point(run, ANSWERED, seconds, tally.answered());
            point(run, DONE, seconds, flood.done());
            point(run, REJECTED, seconds, flood.rejected());
            point(run, BACKLOG, seconds, flood.backlog());
            heap.add(new double[] {
                seconds,
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 20
            });
        });
        try {
            return trial.measure();
        } finally {
            sampler.end();
        }
    }

    private void point(Run run, String line, double seconds, int count) {
        lines.get(line).add(new double[] {seconds, count});
        run.point(line, seconds, count);
    }

    Chart chart(String title) {
        List<Line> drawn = lines.entrySet().stream()
                .map(line -> new Line(line.getKey(), List.copyOf(line.getValue())))
                .toList();
        return new Chart(title, "seconds", "requests", drawn);
    }

    Line heap(String name) {
        return new Line(name, List.copyOf(heap));
    }
}
