package io.github.virtualthread.sample.lab.experiment;

import io.github.virtualthread.sample.lab.Answer.Gantt;
import io.github.virtualthread.sample.lab.Answer.Span;
import java.util.Comparator;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;

/** Measures parts of one work, from its begin. Thread-safe. */
final class PartsClock {

    private final long begin = System.nanoTime();
    private final Queue<Span> spans = new ConcurrentLinkedQueue<>();

    double millis() {
        return (System.nanoTime() - begin) / 1e6;
    }

    /** The same part, measured. */
    <T> Callable<T> measured(String part, Callable<T> body) {
        return () -> {
            double from = millis();
            String end = "stopped";
            try {
                T value = body.call();
                end = "done";
                return value;
            } catch (Exception failure) {
                end = Thread.currentThread().isInterrupted() || isInterruption(failure) ? "stopped" : "failed";
                throw failure;
            } finally {
                spans.add(new Span(part, from, millis(), end));
            }
        };
    }

    /** Whoever waits for a database or a server wraps the interruption. */
    private static boolean isInterruption(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InterruptedException) {
                return true;
            }
        }
        return false;
    }

    /** When the last of the parts that have ended did so. */
    double lastEnd() {
        return spans.stream().mapToDouble(Span::to).max().orElse(0);
    }

    Gantt gantt(String title) {
        return new Gantt(
                title,
                spans.stream()
                        .sorted(Comparator.comparing(Span::part).thenComparingDouble(Span::from))
                        .toList());
    }

    int count() {
        return spans.size();
    }
}
