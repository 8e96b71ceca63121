package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.sample.lab.About;
import io.github.virtualthread.sample.lab.Act;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Line;
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
import java.util.stream.Collectors;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;

/** A steady stream of calls under a limit that is resized while they come: by the experiment, and by whoever watches. */
@Component
@Order(80)
class LimitWhileItRuns implements Experiment {

    private static final String LIMIT = "lab";

    static final String NOTHING = "Nothing, until the next start";
    static final String WAITING_START = "Waiting calls start at once";
    static final String RUNNING_END = "Running calls are ended";

    private static final Column DONE = new Column("done", "done", "per second");
    private static final Column REJECTED = new Column("rejected", "rejected", "per second");
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
                Act.LIMIT_THE_RESOURCE,
                "A limit while it runs",
                "Calls come at a steady rate. What happens when their limit grows and shrinks?",
                List.of(NOTHING, WAITING_START, RUNNING_END),
                List.of(
                        new Parameter("rate", "Calls", "per second", 1, 1_000, 100, 100),
                        new Parameter("millis", "Each takes", "ms", 1, 5_000, 100, 100),
                        new Parameter("first", "Permits first", "", 1, 500, 5, 5),
                        new Parameter("then", "Permits then", "", 1, 500, 20, 20),
                        new Parameter("last", "Permits finally", "", 1, 500, 5, 5),
                        new Parameter("seconds", "Each phase", "s", 1, 60, 7, 1)),
                "How many permits are right. That depends on what the calls reach. A limit adds no capacity.",
                Source.of(LimitedCalls.class),
                """
                virtual-thread:
                  limits:
                    lab:
                      permits: 10
                      queue-capacity: 200""",
                LIMIT,
                21,
                4,
                "permits and calls");
    }

    @Override
    public Answer run(Run run) throws Exception {
        TaskLimit limit = limits.get(LIMIT);
        int before = limit.permits();
        Stream stream = new Stream(limit, Duration.ofMillis(run.get("millis")), run.get("rate"));
        limit.resize(run.get("first")); // before it is looked at: the first permits are no change
        Sampler sampler = Sampler.every(Duration.ofMillis(100), seconds -> stream.draw(run, seconds));
        try {
            List<Change> changes = new ArrayList<>();
            List<Phase> phases = new ArrayList<>();
            for (String name : List.of("first", "then", "last")) {
                changes.add(stream.resize(run.get(name)));
                run.progress(phases.size() / 3.0, "%d permits".formatted(limit.permits()));
                phases.add(stream.flow(name, run.get(name), run.get("seconds")));
            }
            int ended = stream.ended.get();
            return new Answer(
                            sentence(changes, ended, phases),
                            List.of(DONE, REJECTED, WAITING),
                            phases.stream().map(Phase::row).toList(),
                            List.of(),
                            List.of(
                                    "Calls came at a steady %,d per second.".formatted(run.get("rate")),
                                    "Each change of the permits is marked. If you changed the limit during a phase, it did not"
                                            + " have these permits all the time."))
                    .withRight(right(changes, ended));
        } finally {
            sampler.end(); // before the calls that wait are ended: nobody has rejected those
            stream.end();
            limit.resize(before);
        }
    }

    private static String sentence(List<Change> changes, int ended, List<Phase> phases) {
        String changed = changes.stream().map(change -> change.told(ended)).collect(Collectors.joining());
        String done = phases.stream()
                .map(phase ->
                        "%,.0f with %d permits%s".formatted(phase.perSecond(), phase.permits(), phase.unlessKept()))
                .collect(Collectors.joining(", "));
        return "%sCompleted per second: %s.".formatted(changed, done);
    }

    static String right(List<Change> changes, int ended) {
        if (ended > 0) {
            return RUNNING_END;
        }
        List<Change> grown = changes.stream()
                .filter(change -> change.to() > change.from() && change.waiting() > 0)
                .toList();
        if (grown.isEmpty()) {
            return "";
        }
        return grown.stream().anyMatch(change -> change.started() > 0) ? WAITING_START : NOTHING;
    }

    /**
     * What a change of the permits did at once.
     *
     * @param running calls before
     * @param waiting calls before
     * @param started of those that waited
     */
    record Change(int from, int to, int running, int waiting, int started) {

        String told(int ended) {
            if (to > from) {
                String what = waiting == 0
                        ? "no call was waiting"
                        : "%,d of the %,d waiting calls started at once".formatted(started, waiting);
                return "When the limit grew from %d to %d permits, %s. ".formatted(from, to, what);
            }
            String what = ended == 0 ? "none was ended" : "%,d were ended".formatted(ended);
            return to == from
                    ? ""
                    : "When it shrank from %d to %d permits, %,d calls were running and %s. "
                            .formatted(from, to, running, what);
        }
    }

    /**
     * What became of the calls of some seconds.
     *
     * @param resized whether somebody else has resized the limit meanwhile, so that it did not have these permits all the time
     */
    private record Phase(String name, int permits, boolean resized, Measurement measured) {

        Row row() {
            return Row.of("%s, %d permits%s".formatted(name, permits, unlessKept()), List.of(measured));
        }

        String unlessKept() {
            return resized ? " (you changed the limit meanwhile)" : "";
        }

        double perSecond() {
            return measured.figures().get(DONE.key());
        }
    }

    /** The calls, as they come and go. */
    private final class Stream {

        private final TaskLimit limit;
        private final Duration time;
        private final long interval;
        private final AtomicInteger done = new AtomicInteger();
        private final AtomicInteger rejected = new AtomicInteger();
        private final AtomicInteger ended = new AtomicInteger();
        private final List<CompletableFuture<Void>> made = new ArrayList<>();
        private double drawn;
        private int doneWhenDrawn;

        Stream(TaskLimit limit, Duration time, int rate) {
            this.limit = limit;
            this.time = time;
            this.interval = 1_000_000_000L / rate;
        }

        /** Lets calls come for a while, and counts what becomes of them. */
        Phase flow(String phase, int permits, int seconds) throws InterruptedException {
            int doneBefore = done.get();
            int rejectedBefore = rejected.get();
            boolean resized = false;
            long begin = System.nanoTime(); // late calls are made up for in their own phase
            long end = begin + Duration.ofSeconds(seconds).toNanos();
            for (long next = begin; next < end; next += interval) {
                Pace.await(next);
                call();
                resized |= limit.permits() != permits;
            }
            Pace.await(end);
            int doneNow = done.get() - doneBefore;
            int rejectedNow = rejected.get() - rejectedBefore;
            double took = (System.nanoTime() - begin) / 1e9;
            Measurement measured = Measurement.of(DONE.key(), doneNow / took)
                    .and(REJECTED.key(), rejectedNow / took)
                    .and(WAITING.key(), limit.waiting());
            return new Phase(phase, permits, resized, measured);
        }

        private void call() throws InterruptedException {
            CompletableFuture<Void> future = calls.call(time);
            made.add(future);
            var unused =
                    future.whenComplete((nothing, failure) -> countOf(failure).incrementAndGet());
        }

        private AtomicInteger countOf(Throwable failure) {
            return failure == null ? done : failure instanceof LimitExceededException ? rejected : ended;
        }

        Change resize(int permits) {
            int before = limit.permits();
            int waiting = limit.waiting();
            int running = before - limit.available();
            limit.resize(permits);
            return new Change(before, permits, running, waiting, Math.max(0, waiting - limit.waiting()));
        }

        void draw(Run run, double seconds) {
            int now = done.get();
            run.point(Line.PERMITS, seconds, limit.permits());
            run.point("running", seconds, limit.permits() - limit.available());
            run.point("waiting", seconds, limit.waiting());
            run.point("rejected so far", seconds, rejected.get());
            if (seconds > drawn) {
                run.point("done per second", seconds, (now - doneWhenDrawn) / (seconds - drawn));
            }
            drawn = seconds;
            doneWhenDrawn = now;
        }

        void end() {
            made.forEach(future -> future.cancel(true));
        }
    }
}
