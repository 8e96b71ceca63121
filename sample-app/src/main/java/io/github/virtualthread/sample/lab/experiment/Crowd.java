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

/** What becomes of the calls of users who all call at once. Thread-safe. */
final class Crowd {

    static final String DONE = "done";
    static final String REJECTED = "rejected";
    static final String FAILED = "failed";

    private final long made = System.nanoTime();
    private final LongAccumulator begun = new LongAccumulator(Math::min, Long.MAX_VALUE);
    private final Map<String, Ends> ends = new LinkedHashMap<>();
    private final Latencies latencies = new Latencies();
    private final CountedLines lines = new CountedLines(made);

    Crowd() {
        for (String end : List.of(DONE, REJECTED, FAILED)) {
            Ends same = new Ends();
            ends.put(end, same);
            lines.with(end, same.count::get);
        }
    }

    /** A call is done, so long after it began. */
    void done(long nanoseconds) {
        latencies.add(nanoseconds);
        begun.accumulate(System.nanoTime() - made - nanoseconds);
        ended(DONE);
    }

    void rejected() {
        ended(REJECTED);
    }

    void failed() {
        ended(FAILED);
    }

    private void ended(String end) {
        ends.get(end).add(System.nanoTime() - made);
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

    /** How many have ended like that. */
    int count(String end) {
        return ends.get(end).count.get();
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
}
