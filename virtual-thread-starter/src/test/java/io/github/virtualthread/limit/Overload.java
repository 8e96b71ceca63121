package io.github.virtualthread.limit;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * A limit with one queue on a virtual clock, in seconds. Its calls have a deadline, and a {@link Pace} says which of them are hopeless.
 * Only what comes in after the first ten seconds is counted.
 */
final class Overload {

    /** Runs of 100 ms on average. */
    static final ToDoubleFunction<Random> CONSTANT = random -> 0.1;

    static final ToDoubleFunction<Random> EXPONENTIAL = random -> -0.1 * Math.log(1 - random.nextDouble());
    static final ToDoubleFunction<Random> TWO_KINDS = random -> random.nextDouble() < 0.1 ? 0.82 : 0.02;

    private static final double SECOND = 1e9;
    private static final int WARM = 10;

    private final int until;
    private final ToDoubleFunction<Random> run;
    private final double arrivals; // per second
    private final double deadline;
    private final boolean interrupted; // whether bodies end at their deadline
    private final Random random = new Random(7);
    private final PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingDouble(Event::at));
    private final Deque<Call> queue = new ArrayDeque<>();
    private final Set<Call> running = new LinkedHashSet<>();
    private final List<Expectation> expectations = new ArrayList<>();
    private final List<Double> endings = new ArrayList<>();
    private final Pace pace = new Pace();
    private int permits;
    private double now;
    private double speed = 1;
    private long fullSince;

    final int[] inTime; // calls done in time, by second
    int refused;
    int admitted;
    int diedWaiting;
    int late;

    private record Event(double at, Runnable what) {}

    /** A call would begin at that ending. */
    private record Expectation(double asked, double waits, int ending) {}

    private static final class Call {

        private final boolean counts;
        private final double due;
        private double left; // of its run
        private double since; // that was left

        Call(boolean counts, double due, double left) {
            this.counts = counts;
            this.due = due;
            this.left = left;
        }
    }

    /** Calls come at so many times the rate at which the permits can do them. */
    Overload(int permits, ToDoubleFunction<Random> run, double times, double deadline, boolean interrupted, int until) {
        this.permits = permits;
        this.run = run;
        this.arrivals = permits * times / 0.1;
        this.deadline = deadline;
        this.interrupted = interrupted;
        this.until = until;
        this.inTime = new int[until + 1];
    }

    private void at(double moment, Runnable what) {
        events.add(new Event(moment, what));
    }

    /** All runs are so many times as fast from that moment on, also those that have begun. */
    Overload speed(double moment, double times) {
        at(moment, () -> {
            for (Call each : running) {
                each.left -= (now - each.since) * speed;
                each.since = now;
            }
            speed = times;
            running.forEach(this::scheduleEnd);
        });
        return this;
    }

    Overload permits(double moment, int number) {
        at(moment, () -> {
            permits = number;
            serve();
        });
        return this;
    }

    Overload run() {
        at(0, this::arrive);
        for (Event next = events.remove(); next.at < until; next = events.remove()) {
            now = next.at;
            next.what.run();
        }
        return this;
    }

    private void arrive() {
        at(now - Math.log(1 - random.nextDouble()) / arrivals, this::arrive);
        Call call = new Call(now > WARM, now + deadline, run.applyAsDouble(random));
        if (running.size() < permits && queue.isEmpty()) {
            start(call);
            return;
        }
        long nanos = (long) (now * SECOND);
        fullSince = fullSince == 0 ? nanos : fullSince;
        pace.look(fullSince, nanos, endings.size());
        double expected = queue.isEmpty() ? 0 : pace.nanosUntil(queue.size() + 1, fullSince, nanos, endings.size());
        if (expected > 0 && call.counts) {
            expectations.add(new Expectation(now, expected / SECOND, endings.size() + queue.size()));
        }
        if (expected > deadline * SECOND / 2) {
            refused += call.counts ? 1 : 0;
            return;
        }
        admitted += call.counts ? 1 : 0;
        queue.add(call);
        at(call.due, () -> due(call));
    }

    private void start(Call call) {
        running.add(call);
        call.since = now;
        scheduleEnd(call);
        at(call.due, () -> due(call));
    }

    private void scheduleEnd(Call call) {
        double since = call.since;
        at(now + call.left / speed, () -> {
            if (call.since == since && running.contains(call)) {
                end(call);
            }
        });
    }

    private void due(Call call) {
        if (queue.remove(call)) {
            diedWaiting += call.counts ? 1 : 0;
        } else if (interrupted && running.contains(call)) {
            end(call);
        }
    }

    private void end(Call call) {
        running.remove(call);
        endings.add(now);
        if (now < call.due) {
            inTime[(int) now]++;
        } else {
            late += call.counts ? 1 : 0;
        }
        serve();
    }

    private void serve() {
        while (running.size() < permits && !queue.isEmpty()) {
            start(queue.remove());
        }
        if (queue.isEmpty()) {
            fullSince = 0; // the last of those that waited has its permit
        }
    }

    /** Calls done in time from the one second to the other, of those that the permits of the beginning could do. */
    double share(int from, int to, int permits) {
        double sum = 0;
        for (int second = from; second < to; second++) {
            sum += inTime[second];
        }
        return sum / (to - from) / (permits / 0.1);
    }

    /** Of the calls whose wait was expected, how many would have waited so long within a quarter. */
    double wellExpected() {
        List<Expectation> known = expectations.stream()
                .filter(each -> each.ending < endings.size())
                .toList();
        long well = known.stream()
                .filter(each -> Math.abs(each.waits / (endings.get(each.ending) - each.asked) - 1) <= 0.25)
                .count();
        return (double) well / known.size();
    }
}
