package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Figure;
import io.github.virtualthread.sample.lab.Answer.Gantt;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Answer.Span;
import java.util.List;
import java.util.Locale;

/** Charts that need no script. */
final class Svg {

    static final int WIDTH = 800;
    private static final int BAR = 30;
    private static final int NAMES = 260;
    static final List<String> COLOURS =
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
                    escape(Answer.number(figure.median()) + " " + column.unit())));
            y += BAR;
        }
        return frame(y, TextTable.heading(column), svg.toString());
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
                    NAMES + span.to() * scale + 8, y + 20, escape(span.end()), Answer.number(span.to())));
            y += BAR;
        }
        return frame(y, gantt.title(), svg.toString());
    }

    static String frame(int height, String label, String content) {
        return frame(height, label, label, content);
    }

    /** Whoever does not see it hears {@code heard}. */
    static String frame(int height, String label, String heard, String content) {
        return format(
                "<figure><figcaption>%s</figcaption>%s</figure>\n",
                escape(label),
                HtmlReport.scroll(
                        "Chart",
                        format(
                                "<svg viewBox='0 0 %d %d' role='img' aria-label='%s'>%s</svg>\n",
                                WIDTH, height, escape(heard), content)));
    }

    static String colour(int index) {
        return COLOURS.get(index % COLOURS.size());
    }

    static String dash(int index) {
        return DASHES.get(index % DASHES.size());
    }

    static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }

    static String escape(String text) {
        return HtmlReport.escape(text);
    }
}
