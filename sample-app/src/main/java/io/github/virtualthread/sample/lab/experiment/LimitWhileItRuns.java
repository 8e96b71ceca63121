package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Parameter;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Sampler;
import io.github.virtualthread.sample.lab.Source;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** A steady stream of calls under a limit that is resized while they come: by the experiment, and by whoever watches. */
@Component
@Order(80)
class LimitWhileItRuns implements Experiment {

    private static final String LIMIT = "lab";

    private static final Column DONE = new Column("done", "done", "a second");
    private static final Column REJECTED = new Column("rejected", "rejected", "a second");
    private static final Column WAITING = new Column("waiting", "waiting at the end", "");

    private final LimitedCalls calls;
    private final TaskLimits limits;

    LimitWhileItRuns(LimitedCalls calls, TaskLimits limits) {
        this.calls = calls;
        this.limits = limits;
    }

    @Override
    public About about() {
        return new About(
                "limit-while-it-runs",
                "8",
                Act.LIMIT_THE_RESOURCE,
                "A limit while it runs",
                "Calls come at a steady rate. What happens when their limit grows and shrinks?",
                List.of("Nothing, until the next start", "Waiting calls start at once", "Running calls are ended"),
                List.of(
                        new Parameter("rate", "Calls", "a second", 1, 1_000, 100, 100),
                        new Parameter("millis", "Each takes", "ms", 1, 5_000, 100, 100),
                        new Parameter("first", "Permits at first", "", 1, 500, 5, 5),
                        new Parameter("then", "Permits then", "", 1, 500, 20, 20),
                        new Parameter("last", "Permits at last", "", 1, 500, 5, 5),
                        new Parameter("seconds", "Each phase", "s", 1, 60, 7, 2)),
                "How many permits are right: that depends on what the calls reach. A limit adds no capacity.",
                Source.of(LimitedCalls.class),
                """
                virtual-thread:
                  limits:
                    lab:
                      permits: 10
                      queue-capacity: 200""",
                LIMIT);
    }

    @Override
    public Answer run(Run run) throws Exception {
        TaskLimit limit = limits.get(LIMIT);
        int before = limit.permits();
        Stream stream = new Stream(limit, Duration.ofMillis(run.get("millis")), run.get("rate"));
        Sampler sampler = Sampler.every(Duration.ofMillis(100), seconds -> stream.draw(run, seconds));
        try {
            List<Row> rows = new ArrayList<>();
            List<String> phases = List.of("first", "then", "last");
            for (String phase : phases) {
                limit.resize(run.get(phase));
                run.progress((double) rows.size() / phases.size(), "%d permits".formatted(limit.permits()));
                rows.add(stream.flow("%s, %d permits".formatted(phase, run.get(phase)), run.get("seconds")));
            }
            return new Answer(
                    sentence(run, rows),
                    List.of(DONE, REJECTED, WAITING),
                    rows,
                    List.of(),
                    List.of("The line of the permits shows each change, also those made while it ran."));
        } finally {
            stream.end();
            sampler.end();
            limit.resize(before);
        }
    }

    private static String sentence(Run run, List<Row> rows) {
        return "Of %,d calls a second, %s were done with %d permits, %s with %d and %s with %d."
                .formatted(
                        run.get("rate"),
                        perSecond(rows.get(0)),
                        run.get("first"),
                        perSecond(rows.get(1)),
                        run.get("then"),
                        perSecond(rows.get(2)),
                        run.get("last"));
    }

    private static String perSecond(Row row) {
        return "%,.0f".formatted(row.median(DONE.key()));
    }

    /** The calls, as they come and go. */
    private final class Stream {

        private final TaskLimit limit;
        private final Duration time;
        private final long interval;
        private final AtomicInteger done = new AtomicInteger();
        private final AtomicInteger rejected = new AtomicInteger();
        private final List<CompletableFuture<Void>> made = new ArrayList<>();
        private long next = System.nanoTime();
        private double drawn;
        private int doneWhenDrawn;

        Stream(TaskLimit limit, Duration time, int rate) {
            this.limit = limit;
            this.time = time;
            this.interval = 1_000_000_000L / rate;
        }

        /** Lets calls come for a while, and counts what becomes of them. */
        Row flow(String phase, int seconds) throws InterruptedException {
            int doneBefore = done.get();
            int rejectedBefore = rejected.get();
            long end = next + Duration.ofSeconds(seconds).toNanos();
            for (; next < end; next += interval) {
                pause();
                call();
            }
            return Row.of(
                    phase,
                    List.of(Measurement.of(DONE.key(), (double) (done.get() - doneBefore) / seconds)
                            .and(REJECTED.key(), (double) (rejected.get() - rejectedBefore) / seconds)
                            .and(WAITING.key(), limit.waiting())));
        }

        private void pause() throws InterruptedException {
            for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
                LockSupport.parkNanos(left);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
        }

        private void call() throws InterruptedException {
            CompletableFuture<Void> future = calls.call(time);
            made.add(future);
            var unused =
                    future.whenComplete((nothing, failure) -> (failure == null ? done : rejected).incrementAndGet());
        }

        void draw(Run run, double seconds) {
            int now = done.get();
            run.point("permits", seconds, limit.permits());
            run.point("running", seconds, limit.permits() - limit.available());
            run.point("waiting", seconds, limit.waiting());
            run.point("rejected so far", seconds, rejected.get());
            if (seconds > drawn) {
                run.point("done a second", seconds, (now - doneWhenDrawn) / (seconds - drawn));
            }
            drawn = seconds;
            doneWhenDrawn = now;
        }

        void end() {
            made.forEach(future -> future.cancel(true));
        }
    }
}
