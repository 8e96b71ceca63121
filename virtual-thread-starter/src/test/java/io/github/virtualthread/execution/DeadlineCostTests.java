package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.OS;

/** A deadline costs nothing where there is none. */
@Timeout(300)
@Tag("jdk")
class DeadlineCostTests {

    /** To read a thread-local gives each virtual thread that asks a map of its own. */
    @Test
    void noThreadLocalIsReadBeforeTheFirstDeadline() throws Exception {
        ChildJvm.Report report = new ChildJvm(DeadlineCost.class)
                .with("--add-opens", "java.base/java.lang=ALL-UNNAMED")
                .run();

        ChildProgram.assertFigures(
                report,
                Map.of(
                        "maps without deadlines",
                        0L,
                        "deadlines without deadlines",
                        0L,
                        "deadlines after a deadline",
                        1L,
                        "classes of scopes without scopes",
                        0L,
                        "threads that look without scopes",
                        0L,
                        "classes of scopes after a scope",
                        5L));
        assertThat(report.figures().get("maps after a deadline"))
                .as("the measure works")
                .isPositive();
        assertThat(report.figures()).containsEntry("threads that look after a scope", OS.LINUX.isCurrentOs() ? 1L : 0L);
    }
}
