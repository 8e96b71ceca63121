package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Contender.Trial;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Sampler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;

/** Counts that are looked at again and again while something is measured; all of them at the same times. */
final class CountedLines {

    static final Duration INTERVAL = Duration.ofMillis(50);

    private final long origin;
    private final Map<String, IntSupplier> counts = new LinkedHashMap<>();
    private final Map<String, List<double[]>> points = new LinkedHashMap<>();

    /** With that time of {@link System#nanoTime} as 0. */
    CountedLines(long origin) {
        this.origin = origin;
    }

    CountedLines with(String line, IntSupplier count) {
        counts.put(line, count);
        points.put(line, new ArrayList<>());
        return this;
    }

    /** Draws them for whoever watches the run, too. */
    Measurement whileDrawn(Run run, Trial trial) throws Exception {
        counts.keySet().forEach(run::begin);
        return during(trial, run::point);
    }

    /** Nobody sees them before the end. */
    Measurement during(Trial trial) throws Exception {
        return during(trial, (line, seconds, count) -> {});
    }

    private Measurement during(Trial trial, Told told) throws Exception {
        Sampler sampler = Sampler.every(INTERVAL, since -> look(told));
        try {
            return trial.measure();
        } finally {
            sampler.end();
        }
    }

    private void look(Told told) {
        double seconds = (System.nanoTime() - origin) / 1e9;
        counts.forEach((line, counted) -> {
            int count = counted.getAsInt();
            points.get(line).add(new double[] {seconds, count});
            told.point(line, seconds, count);
        });
    }

    List<Line> lines() {
        return linesFrom(0);
    }

    /** What was counted from then on, with that as 0 on the axis. */
    List<Line> linesFrom(double begin) {
        return points.entrySet().stream()
                .map(line -> new Line(
                        line.getKey(),
                        line.getValue().stream()
                                .filter(point -> point[0] >= begin)
                                .map(point -> new double[] {point[0] - begin, point[1]})
                                .toList()))
                .toList();
    }

    /** Who hears of each point. */
    @FunctionalInterface
    private interface Told {
        void point(String line, double seconds, int count);
    }
}
