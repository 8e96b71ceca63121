package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Kind;
import io.github.virtualthread.sample.lab.Answer.Spread;
import io.github.virtualthread.sample.lab.Contender.Trial;
import io.github.virtualthread.sample.lab.Latencies;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAccumulator;

/** Users who all call at once, and what becomes of their calls. Thread-safe. */
final class Crowd {

    private final long made = System.nanoTime();
    private final LongAccumulator begun = new LongAccumulator(Math::min, Long.MAX_VALUE);
    private final Map<String, Ends> ends = new LinkedHashMap<>();
    private final Latencies latencies = new Latencies();
    private final CountedLines lines = new CountedLines(made);

    Crowd() {
        for (String end : List.of("done", "rejected", "failed")) {
            Ends same = new Ends();
            ends.put(end, same);
            lines.with(end, same.count::get);
        }
    }

    /** Calls, and counts how it ends. */
    Void enter(Call call, long begin) {
        String end = "done";
        try {
            call.call();
            latencies.add(System.nanoTime() - begin);
            begun.accumulate(begin - made);
        } catch (Exception failure) {
            end = ScarceResource.isRejection(failure) ? "rejected" : "failed";
        }
        ends.get(end).add(System.nanoTime() - made);
        return null;
    }

    /** Draws how many there are of each kind, while something is measured. */
    Measurement whileDrawn(Run run, Trial trial) throws Exception {
        return lines.whileDrawn(run, trial);
    }

    /** What became of the calls over time, and below how long they took: all began at once, and there the axis begins. */
    Chart chart(String title) {
        double begin = begun.get() == Long.MAX_VALUE ? 0 : begun.get() / 1e9;
        List<Spread> spreads = ends.entrySet().stream()
                .filter(each -> each.getValue().count.get() > 0)
                .map(each -> each.getValue().spread(each.getKey(), begin))
                .toList();
        return new Chart(title, "seconds", "calls", Kind.STACKED, lines.linesFrom(begin), spreads);
    }

    int done() {
        return ends.get("done").count.get();
    }

    int rejected() {
        return ends.get("rejected").count.get();
    }

    int failed() {
        return ends.get("failed").count.get();
    }

    /** Of the calls that were done. */
    Latencies latencies() {
        return latencies;
    }

    /** Calls that ended in the same way. */
    private static final class Ends {

        private final AtomicInteger count = new AtomicInteger();
        private final Queue<Long> times = new ConcurrentLinkedQueue<>();

        void add(long nanos) {
            times.add(nanos);
            count.incrementAndGet();
        }

        Spread spread(String line, double begin) {
            double[] seconds = times.stream()
                    .mapToDouble(nanos -> nanos / 1e9 - begin)
                    .sorted()
                    .toArray();
            return new Spread(line, seconds[0], seconds[(seconds.length - 1) / 2], seconds[seconds.length - 1]);
        }
    }

    /** What a user does. */
    @FunctionalInterface
    interface Call {
        void call() throws Exception;
    }
}
