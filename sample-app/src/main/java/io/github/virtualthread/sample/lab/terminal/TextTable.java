package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Figure;
import java.util.List;
import java.util.Locale;

/** An answer as text: median and, where rounds differ, the range of each figure. */
final class TextTable {

    private TextTable() {}

    static String of(Answer answer) {
        int name = answer.rows().stream()
                .mapToInt(row -> row.name().length())
                .max()
                .orElse(0);
        StringBuilder text = new StringBuilder();
        if (!answer.columns().isEmpty()) {
            text.append("  ").append(" ".repeat(name));
            answer.columns().forEach(column -> text.append("  %28s".formatted(heading(column))));
            text.append('\n');
        }
        answer.rows().forEach(row -> {
            text.append("  ")
                    .append(row.name())
                    .append(" ".repeat(name - row.name().length()));
            answer.columns()
                    .forEach(column ->
                            text.append("  %28s".formatted(figure(row.figures().get(column.key())))));
            text.append('\n');
        });
        answer.facts().rows().forEach(row -> text.append(facts(answer.facts().columns(), row)));
        text.append('\n').append("  ").append(answer.sentence()).append('\n');
        answer.notes().forEach(note -> text.append("  ").append(note).append('\n'));
        return text.toString();
    }

    private static String facts(List<String> columns, List<String> row) {
        StringBuilder text = new StringBuilder("  ").append(row.getFirst()).append('\n');
        for (int i = 1; i < row.size(); i++) {
            text.append("    ").append(columns.get(i)).append(":\n");
            text.append(row.get(i).indent(6));
        }
        return text.toString();
    }

    static String heading(Column column) {
        return column.unit().isEmpty() ? column.label() : column.label() + ", " + column.unit();
    }

    static String figure(Figure figure) {
        if (figure == null) {
            return "";
        }
        String median = number(figure.median());
        return figure.min() == figure.max()
                ? median
                : "%s (%s to %s)".formatted(median, number(figure.min()), number(figure.max()));
    }

    /** Three digits that count, or all of a whole number. */
    static String number(double value) {
        if (value == Math.rint(value) || Math.abs(value) >= 100) {
            return String.format(Locale.ROOT, "%,d", Math.round(value));
        }
        return String.format(Locale.ROOT, Math.abs(value) >= 10 ? "%.1f" : "%.2f", value);
    }
}
