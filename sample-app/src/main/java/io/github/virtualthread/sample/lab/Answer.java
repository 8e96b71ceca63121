package io.github.virtualthread.sample.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What an experiment has found.
 *
 * @param sentence the answer in {@value #MOST_WORDS} words at most, made of what was measured; further sentences begin the notes
 * @param columns figures there are of each contender; the first is the one that is drawn
 * @param rows one for each contender
 * @param charts what is drawn besides
 * @param notes what else a reader has to know, such as who was left out
 * @param facts what was found that is no figure
 * @param gantts what went on when
 * @param right the guess that what was measured confirms; empty where it confirms none
 * @param open why it confirms none; empty where nothing is to be said of that
 */
public record Answer(
        String sentence,
        List<Column> columns,
        List<Row> rows,
        List<Chart> charts,
        List<String> notes,
        Facts facts,
        List<Gantt> gantts,
        String right,
        String open) {

    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.?!])(?= [A-Z@0-9])|$");

    /** As many a headline may have. */
    public static final int MOST_WORDS = 40;

    /** Keeps the sentence short: whole sentences beyond the bound become notes. */
    public Answer {
        int end = headline(sentence);
        if (end < sentence.length()) {
            notes = Stream.concat(Stream.of(sentence.substring(end).strip()), notes.stream())
                    .toList();
            sentence = sentence.substring(0, end);
        }
    }

    /** Where the last sentence ends that is within the bound; at least the first one counts. */
    private static int headline(String text) {
        int end = 0;
        Matcher next = SENTENCE_END.matcher(text);
        while (next.find()) {
            if (end > 0 && text.substring(0, next.start()).split(" ").length > MOST_WORDS) {
                break;
            }
            end = next.start();
        }
        return end;
    }

    /** An answer in figures only. */
    public Answer(String sentence, List<Column> columns, List<Row> rows, List<Chart> charts, List<String> notes) {
        this(sentence, columns, rows, charts, notes, Facts.NONE, List.of(), "", "");
    }

    public Answer withFacts(Facts found) {
        return new Answer(sentence, columns, rows, charts, notes, found, gantts, right, open);
    }

    public Answer withGantts(List<Gantt> drawn) {
        return new Answer(sentence, columns, rows, charts, notes, facts, drawn, right, open);
    }

    public Answer withRight(String guess) {
        return withRight(guess, "");
    }

    /** With the reason why there is no such guess; it counts only where the guess is empty. */
    public Answer withRight(String guess, String reason) {
        return new Answer(sentence, columns, rows, charts, notes, facts, gantts, guess, guess.isEmpty() ? reason : "");
    }

    /** For sentences and tables: three digits that count, or all of a whole number. */
    public static String number(double value) {
        if (value == Math.rint(value) || Math.abs(value) >= 100) {
            return String.format(Locale.ROOT, "%,d", Math.round(value));
        }
        return String.format(Locale.ROOT, Math.abs(value) >= 10 ? "%.1f" : "%.2f", value);
    }

    /** Parts of a work over the same time. */
    public record Gantt(String title, List<Span> spans) {}

    /**
     * One part.
     *
     * @param from milliseconds since the begin of the work
     * @param to milliseconds since the begin of the work
     * @param end what became of it, as in {@code done}
     */
    public record Span(String part, double from, double to, String end) {}

    /**
     * A table of text, such as lines of a log.
     *
     * @param columns heads of the columns
     * @param rows as many cells each; the first is the name of the row
     */
    public record Facts(List<String> columns, List<List<String>> rows) {

        static final Facts NONE = new Facts(List.of(), List.of());
    }

    /**
     * A figure.
     *
     * @param key in {@link Measurement}
     * @param label for people
     * @param unit such as {@code ms}; empty for a count
     */
    public record Column(String key, String label, String unit) {}

    /** All that was measured of one contender. */
    public record Row(String name, Map<String, Figure> figures) {

        /** Of at least one round. */
        public static Row of(String name, List<Measurement> rounds) {
            Map<String, List<Double>> byKey = new LinkedHashMap<>();
            rounds.forEach(round -> round.figures()
                    .forEach((key, figure) -> byKey.computeIfAbsent(key, first -> new ArrayList<>())
                            .add(figure)));
            Map<String, Figure> figures = new LinkedHashMap<>();
            byKey.forEach((key, values) -> figures.put(key, Figure.of(values)));
            return new Row(name, figures);
        }

        /** The one of that contender. */
        public static Row named(List<Row> rows, String name) {
            return rows.stream()
                    .filter(row -> row.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("No contender '%s'".formatted(name)));
        }

        public double median(String key) {
            return figures.get(key).median();
        }

        public Figure figure(Column column) {
            return figures.get(column.key());
        }
    }

    /** One figure over all rounds. */
    public record Figure(double median, double min, double max) {

        public Figure plus(Figure other) {
            return new Figure(median + other.median, min + other.min, max + other.max);
        }

        public Figure times(double factor) {
            return new Figure(factor * median, factor * min, factor * max);
        }

        static Figure of(List<Double> rounds) {
            double[] sorted =
                    rounds.stream().mapToDouble(Double::doubleValue).sorted().toArray();
            int middle = sorted.length / 2;
            double median = sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
            return new Figure(median, sorted[0], sorted[sorted.length - 1]);
        }
    }

    /**
     * Lines over one axis.
     *
     * @param x label of the axis from left to right
     * @param y label of the axis from bottom to top
     * @param spreads when what was counted has happened, on the same axis from left to right; drawn below
     */
    public record Chart(String title, String x, String y, Kind kind, List<Line> lines, List<Spread> spreads) {

        /** Of lines alone. */
        public Chart(String title, String x, String y, List<Line> lines) {
            this(title, x, y, Kind.LINES, lines, List.of());
        }
    }

    /** What the lines of a chart bound. */
    public enum Kind {
        /** Nothing. */
        LINES,
        /** Areas, each upon the one before; all lines have their points at the same places. */
        STACKED,
        /** The gap between the first and the second where the first is higher; both have their points at the same places. */
        GAP
    }

    /**
     * Where a crowd of similar events lies on an axis.
     *
     * @param line whose they are
     * @param median half of them are not later
     */
    public record Spread(String line, double first, double median, double last) {}

    /** Something that changed at a place of the axis from left to right. */
    public record Mark(double x, String text) {}

    /** A line through points of x and y. */
    public record Line(String name, List<double[]> points) {

        /** Name of a line that goes in steps, of which each is marked; lines of other names have no marks. */
        public static final String PERMITS = "permits";

        private static final double STEADY_SECONDS = 0.3;

        /** Each change of the permits; of several that follow at once, as of a slider that is moved, the last. */
        public List<Mark> marks() {
            List<Mark> marks = new ArrayList<>();
            for (int at = 1; name.equals(PERMITS) && at < points.size(); at++) {
                double[] point = points.get(at);
                if (point[1] != points.get(at - 1)[1]) {
                    if (!marks.isEmpty() && point[0] - marks.getLast().x() < STEADY_SECONDS) {
                        marks.removeLast();
                    }
                    marks.add(new Mark(point[0], "%,.0f %s".formatted(point[1], PERMITS)));
                }
            }
            return marks;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Line line
                    && name.equals(line.name)
                    && Arrays.deepEquals(points.toArray(), line.points.toArray());
        }

        @Override
        public int hashCode() {
            return name.hashCode();
        }
    }

    /** The row of that contender. */
    public Row row(String name) {
        return Row.named(rows, name);
    }
}
