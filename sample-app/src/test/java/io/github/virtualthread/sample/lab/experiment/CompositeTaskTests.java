package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.github.virtualthread.sample.SampleTest;
import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Gantt;
import io.github.virtualthread.sample.lab.Answer.Span;
import io.github.virtualthread.sample.lab.Lab;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;

@SampleTest
class CompositeTaskTests {

    @Test
    void thePageTakesItsLongestPartAndAFailureStopsTheRestOnlyWithAll(@Autowired Lab lab) throws Exception {
        Answer answer = lab.start("composite-task", Map.of("fan", "100", "millis", "10", "rounds", "1"), Scale.SMALL)
                .answer()
                .get(25, TimeUnit.SECONDS);

        Gantt sequential = gantt(answer, CompositeTask.SEQUENTIAL + ": the page");
        double sum = sequential.spans().stream()
                .mapToDouble(span -> span.to() - span.from())
                .sum();
        assertThat(answer.row(CompositeTask.SEQUENTIAL).median("page")).isGreaterThanOrEqualTo(sum);
        for (String together : new String[] {CompositeTask.ASYNC, CompositeTask.VIRTUAL, CompositeTask.ALL}) {
            assertThat(answer.row(together).median("page"))
                    .as(together)
                    .isLessThan(answer.row(CompositeTask.SEQUENTIAL).median("page"));
            assertThat(gantt(answer, together + ": the page").spans())
                    .extracting(Span::part, Span::end)
                    .containsExactly(tuple("price", "done"), tuple("reviews", "done"), tuple("stock", "done"));
            assertThat(answer.row(together).median("fanOut")).isGreaterThanOrEqualTo(10);
        }
        assertThat(ends(answer, CompositeTask.VIRTUAL)).isEqualTo("done failed done");
        assertThat(ends(answer, CompositeTask.ASYNC)).isEqualTo("done failed done");
        assertThat(ends(answer, CompositeTask.ALL)).isEqualTo("stopped failed stopped");
        assertThat(answer.row(CompositeTask.VIRTUAL).median("server"))
                .isGreaterThan(answer.row(CompositeTask.VIRTUAL).median("failed"));
        assertThat(answer.row(CompositeTask.SEQUENTIAL).figures()).doesNotContainKey("fanOut");
    }

    /** What became of price, reviews and stock when the reviews failed. */
    private static String ends(Answer answer, String way) {
        return String.join(
                " ",
                gantt(answer, way + ": the reviews fail").spans().stream()
                        .map(Span::end)
                        .toList());
    }

    private static Gantt gantt(Answer answer, String title) {
        return answer.gantts().stream()
                .filter(gantt -> gantt.title().equals(title))
                .findFirst()
                .orElseThrow();
    }
}
