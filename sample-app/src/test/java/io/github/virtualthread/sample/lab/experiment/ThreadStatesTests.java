package io.github.virtualthread.sample.lab.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.lab.Answer;
import io.github.virtualthread.sample.lab.Run;
import io.github.virtualthread.sample.lab.Settings;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
class ThreadStatesTests {

    @Test
    void theJdkKeepsMoreStatesThanItShows() throws Exception {
        Answer answer = new ThreadStates().run(new Run(new Settings(Map.of()), new Unwatched()));

        List<List<String>> rows = answer.facts().rows();
        assertThat(rows).hasSize(9).allSatisfy(row -> assertThat(row).hasSize(4));
        assertThat(rows.getFirst().subList(0, 3)).containsExactly("is not started", "NEW", "NEW");
        assertThat(rows).anySatisfy(row -> assertThat(row.subList(0, 2)).containsExactly("computes", "RUNNABLE"));
        assertThat(rows).anySatisfy(row -> assertThat(row.subList(0, 2)).containsExactly("sleeps", "TIMED_WAITING"));
        assertThat(rows).anySatisfy(row -> assertThat(row.subList(0, 3))
                .containsExactly("sleeps in a class initializer", "TIMED_WAITING", "TIMED_PINNED"));
        assertThat(answer.right()).isEqualTo(ThreadStates.MORE);
    }
}
