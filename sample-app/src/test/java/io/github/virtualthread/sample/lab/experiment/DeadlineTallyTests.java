package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Measurement;
import io.github.virtualthread.sample.lab.experiment.OverloadServer.Setup;
import io.github.virtualthread.sample.lab.experiment.OverloadServer.Way;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DeadlineTallyTests {

    private static final Duration DEADLINE = Duration.ofSeconds(1);

    @Test
    void anAnswerAfterTheDeadlineIsNotInTime() {
        DeadlineTally tally = new DeadlineTally(DEADLINE, Duration.ofHours(1));

        tally.answered(DEADLINE.toNanos());
        tally.answered(DEADLINE.toNanos() + 1);

        assertThat(tally.inTime()).isEqualTo(1);
        assertThat(tally.answered()).isEqualTo(2);
    }

    @Test
    void whatIsDoneBeforeTheQueuesAreFullIsNoFigure() {
        DeadlineTally tally = new DeadlineTally(DEADLINE, Duration.ofHours(1));

        tally.answered(1);
        tally.rejected(5_000_000);

        assertThat(tally.addTo(Measurement.of("rate", 7)).figures())
                .containsEntry(DeadlineTally.IN_TIME.key(), 0.0)
                .containsEntry(DeadlineTally.LATE.key(), 0.0)
                .containsEntry(DoorTally.TOLD.key(), 5.0);
    }

    @Test
    void aRequestWithoutAnAnswerIsLeftInTheServer() {
        DeadlineTally tally = new DeadlineTally(DEADLINE, Duration.ofHours(1));
        tally.rejected(1);
        assertThat(tally.isLeft()).isFalse();

        tally.timedOut();

        assertThat(tally.isLeft()).isTrue();
    }

    @Test
    void aServerHasTheSettingsOfItsQuestion() {
        Setup setup = new Setup(10, 50, 1_000, 500);

        assertThat(Setup.parse(setup.question(OverloadServer.OPEN, Way.BULKHEAD).split(" ")))
                .isEqualTo(setup);
        assertThat(setup.perSecond(100)).isEqualTo(200);
        assertThat(setup.perSecond(1_000)).isEqualTo(2_000);
        assertThat(Way.LONG_QUEUE.settings(setup))
                .containsAllEntriesOf(Map.of(
                        "virtual-thread.limits.web.queue-capacity", 200, "virtual-thread.web.deadline", "1000ms"));
        assertThat(Way.HOPELESS.settings(setup)).containsEntry("virtual-thread.limits.web.reject-hopeless", true);
    }
}
