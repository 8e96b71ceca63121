package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer.Column;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Contenders and their figures as Markdown. */
final class MarkdownTable {

    private MarkdownTable() {}

    /**
     * A table of figures.
     *
     * @param heads those of the columns before the figures
     * @param names what stands in these columns
     * @param cell what a function makes of each row and column
     */
    static <T> String of(
            List<String> heads,
            List<Column> columns,
            List<T> rows,
            Function<T, List<String>> names,
            BiFunction<T, Column, String> cell) {
        List<String> labels = columns.stream().map(TextTable::heading).toList();
        return line(heads, labels)
                + "|---".repeat(heads.size() + columns.size())
                + "|\n"
                + rows.stream()
                        .map(row -> line(
                                names.apply(row),
                                columns.stream()
                                        .map(column -> cell.apply(row, column))
                                        .toList()))
                        .collect(Collectors.joining());
    }

    static String line(List<String> names, List<String> cells) {
        return Stream.concat(names.stream(), cells.stream())
                .collect(Collectors.joining(" | ", "| ", " |\n"))
                .replace("|  |", "| |");
    }
}
