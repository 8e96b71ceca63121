package io.github.virtualthread.sample.lab.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Kind;
import io.github.virtualthread.sample.lab.Answer.Line;
import io.github.virtualthread.sample.lab.Answer.Spread;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The plot is 730 wide and 240 high, and begins at 60 from the left and ends at 250 from the top. */
class LinesSvgTests {

    private static final Line TO_THREE = line("done", 0, 0, 10, 3);
    private static final Line TO_ONE = line("failed", 0, 0, 10, 1);
    private static final Line NONE = line("rejected", 0, 0, 10, 0);

    @Test
    void eachAreaStandsUponTheOneBefore() {
        String svg = svg(chart(Kind.STACKED, TO_THREE, TO_ONE));

        assertThat(svg)
                .contains("<polygon points='60.0,250.0 790.0,70.0 790.0,250.0 60.0,250.0' fill='url(#area-0)'/>")
                .contains("<polygon points='60.0,250.0 790.0,10.0 790.0,70.0 60.0,250.0' fill='url(#area-1)'/>");
        assertThat(LinesSvg.PATTERNS).contains("id='area-0'", "id='area-1'");
    }

    @Test
    void whereThereIsNothingToStackTheLegendSaysSoAndNoLineHidesAnother() {
        String svg = svg(chart(Kind.STACKED, TO_THREE, NONE));

        assertThat(svg).contains("rejected (none)").containsOnlyOnce("<polygon").containsOnlyOnce("<polyline");
    }

    @Test
    void theGapIsShadedWhereTheFirstIsHigher() {
        Line answered = line("answered", 0, 0, 5, 4, 10, 4);
        Line done = line("really done", 0, 1, 5, 2, 10, 4);

        assertThat(svg(chart(Kind.GAP, answered, done)))
                .contains("answered, but not really done")
                // at first more is done than answered: no gap there
                .contains("<polygon points='60.0,190.0 425.0,10.0 790.0,10.0 790.0,10.0 425.0,130.0 60.0,190.0'");
    }

    @Test
    void aGapThatThereIsNotIsCalledNone() {
        assertThat(svg(chart(Kind.GAP, line("answered", 0, 0, 5, 4), line("really done", 0, 1, 5, 4))))
                .contains("answered, but not really done (none)");
    }

    @Test
    void chartsOfTheSameAxesHaveTheSameScales() {
        Chart low = chart(Kind.LINES, TO_ONE);
        Chart high = chart(Kind.STACKED, TO_THREE, TO_ONE);

        assertThat(LinesSvg.of(low, List.of(low, high))).contains("points='60.0,250.0 790.0,190.0'");
    }

    @Test
    void marksAreDrawnAndTold() {
        assertThat(svg(chart(Kind.LINES, line("permits", 0, 5, 5, 20, 10, 20))))
                .contains("<path d='M425.0 10V250'", ">20 permits</text>", ">At 5 seconds: 20 permits</text>")
                .contains("aria-label='Title. At 5 seconds: 20 permits'");
    }

    @Test
    void howLongCallsTookIsBelowOnTheSameScale() {
        Chart chart = new Chart(
                "Title", "seconds", "calls", Kind.STACKED, List.of(TO_THREE), List.of(new Spread("done", 5, 6, 10)));

        assertThat(svg(chart))
                .containsPattern("<rect x='425.0' y='\\d+' width='365.0'")
                .contains("<path d='M498.0 ")
                .contains("aria-label='Title. done after 5 to 10 seconds, half within 6'");
    }

    private static String svg(Chart chart) {
        return LinesSvg.of(chart, List.of(chart));
    }

    private static Chart chart(Kind kind, Line... lines) {
        return new Chart("Title", "seconds", "calls", kind, List.of(lines), List.of());
    }

    private static Line line(String name, double... coordinates) {
        List<double[]> points = new ArrayList<>();
        for (int at = 0; at < coordinates.length; at += 2) {
            points.add(new double[] {coordinates[at], coordinates[at + 1]});
        }
        return new Line(name, points);
    }
}
