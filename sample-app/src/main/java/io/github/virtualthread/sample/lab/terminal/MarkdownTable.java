package io.github.virtualthread.sample.lab.terminal;

import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Row;
import java.util.List;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/** Contenders and their figures as Markdown. */
final class MarkdownTable {

    private MarkdownTable() {}

    /** With what a function makes of each row and column. */
    static String of(List<Column> columns, List<Row> rows, BiFunction<Row, Column, String> cell) {
        String head = columns.stream().map(TextTable::heading).collect(Collectors.joining(" | ", "| | ", " |\n"));
        return head
                + "|---".repeat(columns.size() + 1)
                + "|\n"
                + rows.stream()
                        .map(row -> columns.stream()
                                .map(column -> cell.apply(row, column))
                                .collect(Collectors.joining(" | ", "| " + row.name() + " | ", " |\n")))
                        .collect(Collectors.joining());
    }
}
