package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Contender.Trial;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Sampler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** Users who all call at once, and what becomes of their calls. Thread-safe. */
final class Crowd {

    private final AtomicInteger done = new AtomicInteger();
    private final AtomicInteger rejected = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final Latencies latencies = new Latencies();
    private final Map<String, List<double[]>> lines = new LinkedHashMap<>();

    /** Calls, and counts how it ends. */
    Void enter(Call call, long begin) {
        try {
            call.call();
            latencies.add(System.nanoTime() - begin);
            done.incrementAndGet();
        } catch (Exception failure) {
            (ScarceResource.isRejection(failure) ? rejected : failed).incrementAndGet();
        }
        return null;
    }

    /** Draws how many there are of each kind, while something is measured. */
    Measurement whileDrawn(Run run, Trial trial) throws Exception {
        List.of("done", "rejected", "failed").forEach(line -> {
            lines.put(line, new ArrayList<>());
            run.begin(line);
        });
        Sampler sampler = Sampler.every(Duration.ofMillis(50), seconds -> draw(run, seconds));
        try {
            return trial.measure();
        } finally {
            sampler.end();
        }
    }

    private void draw(Run run, double seconds) {
        draw(run, "done", seconds, done.get());
        draw(run, "rejected", seconds, rejected.get());
        draw(run, "failed", seconds, failed.get());
    }

    private void draw(Run run, String line, double seconds, int calls) {
        lines.get(line).add(new double[] {seconds, calls});
        run.point(line, seconds, calls);
    }

    Chart chart(String title) {
        List<Line> drawn = lines.entrySet().stream()
                .map(line -> new Line(line.getKey(), List.copyOf(line.getValue())))
                .toList();
        return new Chart(title, "seconds", "calls", drawn);
    }

    int done() {
        return done.get();
    }

    int rejected() {
        return rejected.get();
    }

    int failed() {
        return failed.get();
    }

    Latencies latencies() {
        return latencies;
    }

    /** What a user does. */
    @FunctionalInterface
    interface Call {
        void call() throws Exception;
    }
}
