package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Calls that come to a real limit by a virtual clock, in seconds, and use a partner. Their deadlines, their waits and their runs are by
 * that clock; who goes next is what the limit says.
 */
public final class Overload {

    /** Runs of 100 ms on average. */
    public static final ToDoubleFunction<Random> CONSTANT = random -> 0.1;

    public static final ToDoubleFunction<Random> EXPONENTIAL = random -> -0.1 * Math.log(1 - random.nextDouble());
    public static final ToDoubleFunction<Random> TWO_KINDS = random -> random.nextDouble() < 0.1 ? 0.82 : 0.02;

    private static final double SECOND = 1e9;

    private final Random random = new Random(7);
    private final PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingDouble(Event::at));
    private final PriorityQueue<Visit> running = new PriorityQueue<>(Comparator.comparingDouble(visit -> visit.end));
    private final Function<Random, TaskLimit> limit;
    private Function<Random, @Nullable String> key = any -> null;
    private ToDoubleFunction<Random> work = CONSTANT;
    private DoubleUnaryOperator rate = now -> 0;
    private double deadline = Double.MAX_VALUE;
    private boolean interrupted;
    private boolean halved = true;
    private @Nullable Pace pace;
    private Ended ended = (began, now, isLate) -> {};
    private int capacity = Integer.MAX_VALUE;
    private double speed = 1;
    private double now;
    private double done; // of the work of each running call, since the beginning
    private long fullSince;
    private int ends;

    /** By second: calls that came, and of these, by the second in which they came, what became of them. */
    int[] came = {};

    int[] inTime = {}; // by the second in which they ended
    double[] workInTime = {}; // as well, in seconds of one permit
    int[] refused = {}; // at once or later
    int refusedAtOnce;

    /** Hears the ends of runs. */
    @FunctionalInterface
    public interface Ended {

        /**
         * A run has ended.
         *
         * @param isLate whether its deadline ended it
         */
        void run(long began, long now, boolean isLate);
    }

    private record Event(double at, Runnable what) {}

    /** All calls need a permit of that limit. */
    public Overload(TaskLimit limit) {
        this(any -> limit);
    }

    Overload(Function<Random, TaskLimit> limit) {
        this.limit = limit;
    }

    public Overload work(ToDoubleFunction<Random> seconds) {
        work = seconds;
        return this;
    }

    /** So many calls come in each second, at that time. */
    public Overload rate(DoubleUnaryOperator perSecond) {
        rate = perSecond;
        return this;
    }

    public Overload deadline(double seconds) {
        deadline = seconds;
        return this;
    }

    /** The deadline ends bodies too. */
    public Overload interrupted() {
        interrupted = true;
        return this;
    }

    /** Calls wait until their deadline, also where the limit rejects hopeless ones. */
    public Overload unhalved() {
        halved = false;
        return this;
    }

    /** A pace tells at once which calls are hopeless. */
    Overload paced() {
        pace = new Pace();
        return this;
    }

    public Overload keys(Function<Random, String> ofCall) {
        key = ofCall;
        return this;
    }

    /** The partner does so many calls at once at full speed; more of them share it. */
    public Overload capacity(int calls) {
        capacity = calls;
        return this;
    }

    public Overload listening(Ended listener) {
        ended = listener;
        return this;
    }

    public Overload at(double moment, Runnable change) {
        events.add(new Event(moment, change));
        return this;
    }

    /** All runs are so many times as fast from that moment on, also those that have begun. */
    public Overload speed(double moment, double times) {
        return at(moment, () -> speed = times);
    }

    public Overload capacity(double moment, int calls) {
        return at(moment, () -> capacity = calls);
    }

    public Overload run(int seconds) {
        came = new int[seconds + 1];
        inTime = new int[seconds + 1];
        workInTime = new double[seconds + 1];
        refused = new int[seconds + 1];
        at(0, this::arrive);
        for (double next = next(); next < seconds; next = next()) {
            done += (next - now) * speed();
            now = next;
            Visit first = running.peek();
            if (first != null && first.end - done <= 1e-12) {
                end(first, false);
            } else {
                events.remove().what.run();
            }
        }
        return this;
    }

    private double speed() {
        return speed * Math.min(1, capacity / (double) Math.max(1, running.size()));
    }

    private double next() {
        double event = events.isEmpty() ? Double.MAX_VALUE : events.peek().at;
        Visit first = running.peek();
        return first == null ? event : Math.min(event, now + Math.max(0, first.end - done) / speed());
    }

    private void arrive() {
        double perSecond = rate.applyAsDouble(now);
        at(now + (perSecond == 0 ? 0.1 : -Math.log(1 - random.nextDouble()) / perSecond), this::arrive);
        if (perSecond > 0) {
            came[(int) now]++;
            Visit visit = new Visit(limit.apply(random), key.apply(random), work.applyAsDouble(random));
            if (isHopeless(visit) || visit.ask(Long.MAX_VALUE) != null) {
                refused[(int) now]++;
                refusedAtOnce++;
            } else if (visit.isWaiting()) {
                at(now + visit.patience(), visit::leave);
            }
        }
    }

    private boolean isHopeless(Visit visit) {
        if (pace == null || visit.limit().available() > 0) {
            return false;
        }
        long nanos = (long) (now * SECOND);
        int waiting = visit.limit().waiting();
        fullSince = fullSince == 0 ? nanos : fullSince;
        pace.look(fullSince, nanos, ends);
        return waiting > 0
                && pace.nanosUntil(waiting + 1, running.size(), fullSince, nanos, ends) > visit.patience() * SECOND;
    }

    private void end(Visit visit, boolean isLate) {
        running.remove(visit);
        ends++;
        if (!isLate && now <= visit.due) {
            inTime[(int) now]++;
            workInTime[(int) now] += visit.work;
        }
        visit.giveBack();
        if (visit.limit().waiting() == 0) {
            fullSince = 0; // the last of those that waited has its permit
        }
        ended.run((long) (visit.began * SECOND), (long) (now * SECOND), isLate);
    }

    /** Calls done in time from the one second to the other, each second. */
    public double done(int from, int to) {
        return sum(inTime, from, to) / (to - from);
    }

    /** The work of these, in seconds of one permit, each second. */
    double workDone(int from, int to) {
        double sum = 0;
        for (int second = from; second < to; second++) {
            sum += workInTime[second];
        }
        return sum / (to - from);
    }

    double refused(int from, int to) {
        return sum(refused, from, to) / (to - from);
    }

    private static double sum(int[] numbers, int from, int to) {
        double sum = 0;
        for (int second = from; second < to; second++) {
            sum += numbers[second];
        }
        return sum;
    }

    private final class Visit extends PermitRequest {

        private final TaskLimit asked;
        private final @Nullable KeyedPlace place;
        private final double work;
        private final double came = now;
        private final double due = now + deadline;
        private double began = -1;
        private double end; // by the work that is done

        Visit(TaskLimit asked, @Nullable String key, double work) {
            this.asked = asked;
            this.place = key == null ? null : new KeyedPlace(key, null);
            this.work = work;
        }

        @Override
        protected TaskLimit limit() {
            return asked;
        }

        @Override
        protected @Nullable KeyedPlace place() {
            return place;
        }

        boolean isWaiting() {
            return began < 0;
        }

        /** For how many seconds it waits. */
        double patience() {
            boolean rejects = false;
            for (TaskLimit each = asked; each != null; each = each.within()) {
                rejects |= each.rejectsHopeless();
            }
            return halved && rejects ? deadline / 2 : deadline;
        }

        void leave() {
            if (leaveQueue()) {
                refused[(int) came]++;
            }
        }

        @Override
        protected void granted() {
            began = now;
            end = done + work;
            running.add(this);
            if (interrupted && due < Double.MAX_VALUE / 2) {
                at(due, () -> {
                    if (running.contains(this)) {
                        Overload.this.end(this, true);
                    }
                });
            }
        }

        @Override
        protected void onStartFailed(Throwable failure) {
            throw new AssertionError(failure);
        }

        @Override
        protected void reportRejected(@Nullable Reason reason) {}

        @Override
        protected void reportSoon() {}
    }
}
