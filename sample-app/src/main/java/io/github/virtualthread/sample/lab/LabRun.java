package io.github.virtualthread.sample.lab;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * An experiment that runs, or has run: all that happened, for whoever watches, also for one who comes late.
 *
 * <p>Thread-safe. Whoever listens hears every event once, in order.
 */
public final class LabRun implements Run.Watcher {

    private final long number;
    private final Experiment experiment;
    private final Settings settings;
    private final CompletableFuture<Answer> answer = new CompletableFuture<>();
    private final Thread thread;
    private volatile boolean ended;
    private final Lock lock = new ReentrantLock();
    private final List<Event> events = new ArrayList<>();
    private final List<Consumer<Event>> listeners = new ArrayList<>();

    LabRun(long number, Experiment experiment, Settings settings) {
        this.number = number;
        this.experiment = experiment;
        this.settings = settings;
        this.thread = Thread.ofVirtual().name("lab-" + number).unstarted(this::measure);
    }

    void start() {
        thread.start();
    }

    private void measure() {
        try {
            Answer found = experiment.run(new Run(settings, this));
            ended = true; // before it is told: whoever hears of the end may start the next
            tell(new Answered(found));
            answer.complete(found);
        } catch (InterruptedException cancelled) {
            ended = true;
            tell(new Ended("cancelled", "Cancelled"));
            answer.cancel(false);
        } catch (Throwable failure) {
            ended = true;
            tell(new Ended("failed", failure.toString()));
            answer.completeExceptionally(failure);
        }
    }

    public long number() {
        return number;
    }

    public String id() {
        return experiment.about().id();
    }

    String title() {
        return experiment.about().title();
    }

    public Settings settings() {
        return settings;
    }

    /** Completed with the answer, or as cancelled, or with what went wrong. */
    public CompletableFuture<Answer> answer() {
        return answer.copy();
    }

    /** Whether it measures no more. */
    public boolean isDone() {
        return ended;
    }

    /** Ends the run early. It may take a moment to end what it has begun. */
    public void cancel() {
        thread.interrupt();
    }

    /** Tells all that has happened so far, and then what happens, until the returned one is run. */
    public Runnable listen(Consumer<Event> listener) {
        lock.lock();
        try {
            events.forEach(listener);
            listeners.add(listener);
        } finally {
            lock.unlock();
        }
        return () -> remove(listener);
    }

    private void remove(Consumer<Event> listener) {
        lock.lock();
        try {
            listeners.remove(listener);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void progress(double done, String text) {
        tell(new Progress(done, text));
    }

    @Override
    public void begin(String line) {
        tell(new Began(line));
    }

    @Override
    public void point(String line, double x, double y) {
        tell(new Point(line, x, y));
    }

    private void tell(Event event) {
        lock.lock();
        try {
            events.add(event);
            List.copyOf(listeners).forEach(listener -> listener.accept(event));
        } finally {
            lock.unlock();
        }
    }

    /** Something that happened. */
    public sealed interface Event {

        /** As in the stream of events. */
        String type();
    }

    /** It is that far, from 0 to 1. */
    public record Progress(double done, String text) implements Event {
        @Override
        public String type() {
            return "progress";
        }
    }

    /** A new line of that name begins, in place of an older one. */
    public record Began(String line) implements Event {
        @Override
        public String type() {
            return "begin";
        }
    }

    /** The line goes on. */
    public record Point(String line, double x, double y) implements Event {
        @Override
        public String type() {
            return "point";
        }
    }

    /** The last event of a run that has found its answer. */
    public record Answered(Answer answer) implements Event {
        @Override
        public String type() {
            return "answer";
        }
    }

    /** The last event of a run without an answer. */
    public record Ended(String how, String text) implements Event {
        @Override
        public String type() {
            return "end";
        }
    }
}
