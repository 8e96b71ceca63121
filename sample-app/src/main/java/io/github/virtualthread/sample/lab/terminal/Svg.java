package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Figure;
import io.github.virtualthread.sample.lab.Answer.Gantt;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Answer.Span;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Charts that need no script. */
final class Svg {

    private static final int WIDTH = 800;
    private static final int BAR = 30;
    private static final int NAMES = 260;
    private static final int PLOT_HEIGHT = 240;
    private static final int AXIS = 60;
    private static final List<String> COLOURS =
            List.of("#3367b0", "#c2571a", "#2b8a5a", "#8a4fb0", "#a8324a", "#5b6470", "#997a00");
    private static final List<String> DASHES = List.of("none", "8 4", "2 4", "12 3 2 3", "4 4", "1 3", "16 4");

    private Svg() {}

    /** The first figure of each contender: its median, and the range as a line across its end. */
    static String bars(Answer answer) {
        Column column = answer.columns().getFirst();
        double most = answer.rows().stream()
                .map(row -> row.figures().get(column.key()))
                .mapToDouble(Figure::max)
                .max()
                .orElse(1);
        double scale = (WIDTH - NAMES - 130) / Math.max(most, 1e-9);
        StringBuilder svg = new StringBuilder();
        int y = 0;
        for (Row row : answer.rows()) {
            Figure figure = row.figures().get(column.key());
            svg.append(
                    format("<text x='%d' y='%d' text-anchor='end'>%s</text>", NAMES - 8, y + 20, escape(row.name())));
            svg.append(format(
                    "<rect x='%d' y='%d' width='%.1f' height='18' fill='%s'/>",
                    NAMES, y + 6, figure.median() * scale, colour(0)));
            svg.append(format(
                    "<line x1='%.1f' x2='%.1f' y1='%d' y2='%d' stroke='currentColor' stroke-width='2'/>",
                    NAMES + figure.min() * scale, NAMES + figure.max() * scale, y + 15, y + 15));
            svg.append(format(
                    "<text x='%.1f' y='%d'>%s</text>",
                    NAMES + figure.max() * scale + 8,
                    y + 20,
                    escape(TextTable.number(figure.median()) + " " + column.unit())));
            y += BAR;
        }
        return frame(y, TextTable.heading(column), svg.toString());
    }

    /** All lines over one pair of axes that begin at zero. */
    static String lines(Chart chart) {
        double right = largest(chart, 0);
        double top = largest(chart, 1);
        StringBuilder svg = new StringBuilder();
        svg.append(format(
                "<path d='M%d 10V%dH%d' fill='none' stroke='currentColor'/>", AXIS, PLOT_HEIGHT + 10, WIDTH - 10));
        svg.append(format("<text x='%d' y='20' text-anchor='end'>%s</text>", AXIS - 6, TextTable.number(top)));
        svg.append(format(
                "<text x='%d' y='%d' text-anchor='end'>%s %s</text>",
                WIDTH - 10, PLOT_HEIGHT + 26, TextTable.number(right), escape(chart.x())));
        int index = 0;
        for (Line line : chart.lines()) {
            String points = line.points().stream()
                    .map(point -> format(
                            "%.1f,%.1f",
                            AXIS + point[0] / right * (WIDTH - AXIS - 10),
                            PLOT_HEIGHT + 10 - point[1] / top * PLOT_HEIGHT))
                    .collect(Collectors.joining(" "));
            svg.append(format(
                    "<polyline points='%s' fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s'/>",
                    points, colour(index), dash(index)));
            int y = PLOT_HEIGHT + 46 + index * 18;
            svg.append(format(
                    "<line x1='%d' x2='%d' y1='%d' y2='%d' stroke='%s' stroke-width='2' stroke-dasharray='%s'/>",
                    AXIS, AXIS + 40, y - 4, y - 4, colour(index), dash(index)));
            svg.append(format("<text x='%d' y='%d'>%s</text>", AXIS + 48, y, escape(line.name())));
            index++;
        }
        return frame(PLOT_HEIGHT + 46 + index * 18, chart.title(), svg.toString());
    }

    /** A bar from begin to end of each part. */
    static String gantt(Gantt gantt) {
        double most = gantt.spans().stream().mapToDouble(Span::to).max().orElse(1);
        double scale = (WIDTH - NAMES - 130) / Math.max(most, 1e-9);
        StringBuilder svg = new StringBuilder();
        int y = 0;
        for (Span span : gantt.spans()) {
            svg.append(
                    format("<text x='%d' y='%d' text-anchor='end'>%s</text>", NAMES - 8, y + 20, escape(span.part())));
            svg.append(format(
                    "<rect x='%.1f' y='%d' width='%.1f' height='18' fill='%s'/>",
                    NAMES + span.from() * scale, y + 6, (span.to() - span.from()) * scale, colour(0)));
            svg.append(format(
                    "<text x='%.1f' y='%d'>%s after %s ms</text>",
                    NAMES + span.to() * scale + 8, y + 20, escape(span.end()), TextTable.number(span.to())));
            y += BAR;
        }
        return frame(y, gantt.title(), svg.toString());
    }

    private static double largest(Chart chart, int coordinate) {
        return Math.max(
                1e-9,
                chart.lines().stream()
                        .flatMap(line -> line.points().stream())
                        .mapToDouble(point -> point[coordinate])
                        .max()
                        .orElse(1));
    }

    private static String frame(int height, String label, String content) {
        return format(
                "<figure><figcaption>%s</figcaption><svg viewBox='0 0 %d %d' role='img' aria-label='%s'>%s</svg></figure>\n",
                escape(label), WIDTH, height, escape(label), content);
    }

    private static String colour(int index) {
        return COLOURS.get(index % COLOURS.size());
    }

    private static String dash(int index) {
        return DASHES.get(index % DASHES.size());
    }

    private static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }

    private static String escape(String text) {
        return HtmlReport.escape(text);
    }
}
