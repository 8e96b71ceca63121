package io.github.virtualthread.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Mark;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class AnswerTests {

    @Test
    void eachChangeOfThePermitsIsMarkedAtTheTimeItWasSeen() {
        assertThat(line("permits", 0, 5, 1, 5, 2, 20, 3, 20, 4, 5).marks())
                .containsExactly(new Mark(2, "20 permits"), new Mark(4, "5 permits"));
    }

    @Test
    void ofChangesThatFollowAtOnceTheLastIsMarked() {
        assertThat(line("permits", 0, 5, 1, 6, 1.2, 7, 1.4, 8, 3, 9).marks())
                .containsExactly(new Mark(1.4, "8 permits"), new Mark(3, "9 permits"));
    }

    @Test
    void otherLinesHaveNoMarks() {
        assertThat(line("running", 0, 5, 1, 6).marks()).isEmpty();
    }

    @Test
    void aFigureHasThreeDigitsThatCountAndItsThousandsApart() {
        assertThat(Stream.of(5355.2, 13.04, 1.5, 0.123, 7.0).map(Answer::number))
                .containsExactly("5,355", "13.0", "1.50", "0.12", "7");
    }

    private static Line line(String name, double... coordinates) {
        return new Line(
                name,
                IntStream.range(0, coordinates.length / 2)
                        .mapToObj(at -> new double[] {coordinates[2 * at], coordinates[2 * at + 1]})
                        .toList());
    }
}
