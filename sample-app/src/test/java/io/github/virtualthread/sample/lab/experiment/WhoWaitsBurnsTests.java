package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Answer.Row;
import io.github.virtualthread.sample.lab.Experiment;
import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.Ranges;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
class WhoWaitsBurnsTests {

    @Test
    @Tag("slow")
    void bothDoAsManyQueriesAsThereAreConnections() throws Exception {
        Experiment experiment = new WhoWaitsBurns();
        Settings settings = Settings.of(
                experiment.about().parameters(),
                Map.of("callers", "100", "millis", "10", "seconds", "1", "rounds", "1"),
                Scale.SMALL);

        Answer answer = experiment.run(new Run(settings, new Unwatched()));

        for (Row row : answer.rows()) {
            assertThat(row.median(WhoWaitsBurns.FAILED.key())).as(row.name()).isZero();
            assertThat(row.median(WhoWaitsBurns.RATE.key()))
                    .as(row.name())
                    .isPositive()
                    .isLessThan(1_000 * 1.2);
            assertThat(row.median(WhoWaitsBurns.EACH.key())).as(row.name()).isPositive();
        }
        assertThat(answer.sentence()).startsWith("Of 100 callers that share 10 connections, a query cost ");
    }

    @Test
    void theCardSaysWhateverWasFound() {
        assertThat(WhoWaitsBurns.right(rows(150, 30), new Ranges(3))).isEqualTo(WhoWaitsBurns.BURNS);
        assertThat(WhoWaitsBurns.right(rows(30, 30), new Ranges(3))).isEqualTo(WhoWaitsBurns.SAME);
        assertThat(WhoWaitsBurns.right(rows(30, 150), new Ranges(3))).isEqualTo(WhoWaitsBurns.LIMIT_BURNS);
    }

    private static List<Row> rows(double pool, double limit) {
        return List.of(
                Row.of(WhoWaitsBurns.POOL, List.of(Measurement.of("each", pool))),
                Row.of(WhoWaitsBurns.LIMIT, List.of(Measurement.of("each", limit))));
    }
}
