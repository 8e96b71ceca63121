package io.github.virtualthread.sample.lab.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Column;
import io.github.virtualthread.sample.lab.Answer.Facts;
import io.github.virtualthread.sample.lab.Answer.Figure;
import io.github.virtualthread.sample.lab.Answer.Row;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class TextTableTests {

    @Test
    void whatFitsStandsSideBySideUnderHeadsOfSeveralLines() {
        assertThat(TextTable.of(answer("Short.", 2))).isEqualTo("""
                                    until all of them   until all of them
                                           done 1, ms          done 2, ms
                  virtual threads  1,234 (1 to 2,345)  1,234 (1 to 2,345)

                  Short.
                """);
    }

    @Test
    void noLineIsLongerThanATerminalIsWide() {
        Answer wide = answer("Many words make a long sentence. ".repeat(9).strip(), 9, "A note. ".repeat(30))
                .withFacts(new Facts(
                        List.of("", "@Async"), List.of(List.of("The stack", "\tat " + "io.github.".repeat(20)))));

        String text = TextTable.of(wide);
        assertThat(text.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(120));
        assertThat(text).contains("9, ms").contains("\n  Many words", "\n  A note.");
        assertThat(text.split("virtual threads")).as("tables below each other").hasSize(1 + 2);
    }

    private static Answer answer(String sentence, int columns, String... notes) {
        Map<String, Figure> figures = new LinkedHashMap<>();
        List<Column> heads = IntStream.rangeClosed(1, columns)
                .mapToObj(at -> new Column("k" + at, "until all of them done " + at, "ms"))
                .toList();
        heads.forEach(head -> figures.put(head.key(), new Figure(1234, 1, 2345)));
        return new Answer(sentence, heads, List.of(new Row("virtual threads", figures)), List.of(), List.of(notes));
    }
}
