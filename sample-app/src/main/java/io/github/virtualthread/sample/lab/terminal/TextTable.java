package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Figure;
import io.github.virtualthread.sample.lab.Answer.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** An answer as text: median and, where rounds differ, the range of each figure. */
final class TextTable {

    /** No line is longer. */
    static final int WIDTH = 120;

    private static final int INDENT = 2;

    private TextTable() {}

    static String of(Answer answer) {
        StringBuilder text = new StringBuilder(figures(answer));
        answer.facts()
                .rows()
                .forEach(row -> text.append(wrap(facts(answer.facts().columns(), row))));
        text.append('\n').append(wrap(answer.sentence().indent(INDENT)));
        answer.notes().forEach(note -> text.append(wrap(note.indent(INDENT))));
        return text.toString();
    }

    /** In as many tables, one below the other, as the width asks for. */
    private static String figures(Answer answer) {
        int names = answer.rows().stream()
                .mapToInt(row -> row.name().length())
                .max()
                .orElse(0);
        StringBuilder text = new StringBuilder();
        List<TextColumn> beside = new ArrayList<>();
        int width = INDENT + names;
        for (Column column : answer.columns()) {
            TextColumn next = TextColumn.of(column, answer.rows());
            if (!beside.isEmpty() && width + next.width() > WIDTH) {
                text.append(table(beside, answer.rows(), names)).append('\n');
                beside.clear();
                width = INDENT + names;
            }
            beside.add(next);
            width += next.width();
        }
        return beside.isEmpty()
                ? ""
                : text.append(table(beside, answer.rows(), names)).toString();
    }

    private static String table(List<TextColumn> columns, List<Row> rows, int names) {
        StringBuilder text = new StringBuilder();
        int lines =
                columns.stream().mapToInt(column -> column.head().size()).max().orElse(0);
        for (int at = 0; at < lines; at++) {
            int line = at;
            text.append(line("", names, columns, column -> column.head(line, lines)));
        }
        for (int at = 0; at < rows.size(); at++) {
            int row = at;
            text.append(line(rows.get(at).name(), names, columns, column -> column.cells()
                    .get(row)));
        }
        return text.toString();
    }

    private static String line(String name, int names, List<TextColumn> columns, Function<TextColumn, String> cell) {
        String cells = columns.stream()
                .map(column -> padded(cell.apply(column), column.width()))
                .collect(Collectors.joining("", " ".repeat(INDENT) + padded(name, -names), ""));
        return cells.stripTrailing() + "\n";
    }

    /** To the right; to the left where the width is negative. */
    private static String padded(String text, int width) {
        String room = " ".repeat(Math.max(0, Math.abs(width) - text.length()));
        return width < 0 ? text + room : room + text;
    }

    private static String facts(List<String> columns, List<String> row) {
        StringBuilder text = new StringBuilder("  ").append(row.getFirst()).append('\n');
        for (int i = 1; i < row.size(); i++) {
            text.append("    ").append(columns.get(i)).append(":\n");
            text.append(row.get(i).replace("\t", "  ").indent(6));
        }
        return text.toString();
    }

    /** Each line within the width; its continuation is indented as it is. */
    static String wrap(String text) {
        return text.lines().map(TextTable::wrapLine).collect(Collectors.joining("\n", "", "\n"));
    }

    private static String wrapLine(String line) {
        String indent = " ".repeat(line.length() - line.stripLeading().length());
        StringBuilder wrapped = new StringBuilder();
        String rest = line;
        while (rest.length() > WIDTH) {
            int space = rest.lastIndexOf(' ', WIDTH);
            int end = space > indent.length() ? space : WIDTH;
            wrapped.append(rest, 0, end).append('\n');
            rest = indent + rest.substring(end).stripLeading();
        }
        return wrapped.append(rest).toString();
    }

    static String heading(Column column) {
        return column.unit().isEmpty() ? column.label() : column.label() + ", " + column.unit();
    }

    static String figure(Figure figure) {
        if (figure == null) {
            return "";
        }
        String median = Answer.number(figure.median());
        return figure.min() == figure.max()
                ? median
                : "%s (%s to %s)".formatted(median, Answer.number(figure.min()), Answer.number(figure.max()));
    }

    /**
     * One column.
     *
     * @param head its lines
     * @param cells one for each row
     */
    private record TextColumn(List<String> head, List<String> cells) {

        private static final int GAP = 2;
        private static final int NARROW = 14;

        static TextColumn of(Column column, List<Row> rows) {
            List<String> cells = rows.stream()
                    .map(row -> figure(row.figures().get(column.key())))
                    .toList();
            int widest = cells.stream().mapToInt(String::length).max().orElse(0);
            return new TextColumn(head(heading(column), Math.max(widest, NARROW)), cells);
        }

        private static List<String> head(String heading, int width) {
            List<String> lines = new ArrayList<>();
            for (String word : heading.split(" ")) {
                if (lines.isEmpty() || lines.getLast().length() + 1 + word.length() > width) {
                    lines.add(word);
                } else {
                    lines.add(lines.removeLast() + " " + word);
                }
            }
            return lines;
        }

        /** The heads of all columns end in the same line. */
        String head(int line, int lines) {
            int own = line - lines + head.size();
            return own < 0 ? "" : head.get(own);
        }

        int width() {
            return GAP
                    + Stream.concat(head.stream(), cells.stream())
                            .mapToInt(String::length)
                            .max()
                            .orElse(0);
        }
    }
}
