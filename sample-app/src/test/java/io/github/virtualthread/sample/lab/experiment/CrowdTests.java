package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Answer.Chart;
import io.github.virtualthread.sample.lab.Answer.Kind;
import io.github.virtualthread.sample.lab.Answer.Spread;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class CrowdTests {

    private final Crowd crowd = new Crowd();

    @Test
    void callsAreToldApartByTheirEndAndOnlyThoseThatThereAreHaveATime() throws Exception {
        crowd.whileDrawn(run(), () -> {
            crowd.done(Duration.ofSeconds(2).toNanos());
            crowd.done(Duration.ofSeconds(2).toNanos());
            crowd.failed(); // when it began is known of those that were done
            return Measurement.of("rate", 1);
        });

        Chart chart = crowd.chart("contender");

        assertThat(List.of(crowd.count(Crowd.DONE), crowd.count(Crowd.REJECTED), crowd.count(Crowd.FAILED)))
                .containsExactly(2, 0, 1);
        assertThat(chart.kind()).isEqualTo(Kind.STACKED);
        assertThat(chart.lines().stream().map(line -> line.points().getLast()[1]))
                .containsExactly(2.0, 0.0, 1.0);
        // the axis begins with the calls, not with who drew them
        assertThat(chart.lines().stream()
                        .map(line -> line.points().getLast()[0])
                        .distinct())
                .singleElement()
                .satisfies(last -> assertThat(last)
                        .isGreaterThanOrEqualTo(chart.spreads().getLast().last()));
        assertThat(chart.spreads()).extracting(Spread::line).containsExactly("done", "failed");
        assertThat(chart.spreads()).allSatisfy(spread -> {
            assertThat(spread.first()).isGreaterThanOrEqualTo(2);
            assertThat(spread.last()).isGreaterThanOrEqualTo(spread.median());
        });
    }

    @Test
    void whereNoneIsDoneTheAxisBeginsWithTheCrowd() throws Exception {
        crowd.whileDrawn(run(), () -> {
            crowd.failed();
            return Measurement.of("rate", 0);
        });

        Chart chart = crowd.chart("contender");

        assertThat(chart.spreads()).singleElement().satisfies(failed -> {
            assertThat(failed.line()).isEqualTo("failed");
            assertThat(failed.first()).isPositive();
        });
        assertThat(chart.lines()).allSatisfy(line -> assertThat(line.points()).isNotEmpty());
    }

    private static Run run() {
        return new Run(Settings.of(List.of(), Map.of(), Settings.Scale.SMALL), new Unwatched());
    }
}
