package io.github.virtualthread.bench.page;

import io.github.virtualthread.bench.page.BenchReport.Figures;

/** Figures as a reader wants them: few digits, and a unit that suits. */
final class Words {

    private Words() {}

    /** The median of the rounds. */
    static String time(Figures figures) {
        return time(Rounds.median(figures.scores()), figures.unit());
    }

    private static String time(double value, String unit) {
        double nanos = value * (unit.startsWith("ms") ? 1e6 : unit.startsWith("us") ? 1e3 : 1);
        if (nanos < 1e4) {
            return number(nanos) + " ns";
        }
        return nanos < 1e7 ? number(nanos / 1e3) + " µs" : number(nanos / 1e6) + " ms";
    }

    /** The median of the rounds; nothing if nobody looked. */
    static String bytes(Figures figures) {
        if (figures.bytes().isEmpty()) {
            return "";
        }
        double bytes = Rounds.median(figures.bytes());
        return bytes < 1e7 ? "%,.0f B".formatted(bytes) : "%,.0f MB".formatted(bytes / 1e6);
    }

    /** Three digits, or all before the point. */
    static String number(double value) {
        return (value < 10 ? "%,.2f" : value < 100 ? "%,.1f" : "%,.0f").formatted(value);
    }
}
