package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Kind;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Contender.Trial;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import java.lang.management.ManagementFactory;
import java.util.List;

/** Draws what is promised and what is done, of one contender. */
final class FloodLines {

    static final String ANSWERED = "answered";
    static final String DONE = "really done";
    static final String REJECTED = "rejected";
    static final String BACKLOG = "backlog";

    private final CountedLines counts;
    private final CountedLines heap;

    FloodLines(Flood flood, Tally tally) {
        long origin = System.nanoTime();
        heap = new CountedLines(origin).with("heap", FloodLines::heapMegabytes);
        counts = new CountedLines(origin)
                .with(ANSWERED, tally::answered)
                .with(DONE, flood::done)
                .with(REJECTED, flood::rejected)
                .with(BACKLOG, flood::backlog);
    }

    private static int heapMegabytes() {
        return (int) (ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() >> 20);
    }

    /** While something is measured. */
    Measurement draw(Run run, Trial trial) throws Exception {
        return heap.during(() -> counts.whileDrawn(run, trial));
    }

    Chart chart(String title) {
        return new Chart(title, "seconds", "requests", Kind.GAP, counts.lines(), List.of());
    }

    Line heap(String name) {
        return new Line(name, heap.lines().getFirst().points());
    }
}
