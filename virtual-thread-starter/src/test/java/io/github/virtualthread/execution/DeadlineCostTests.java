package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
                        1L));
        assertThat(report.figures().get("maps after a deadline"))
                .as("the measure works")
                .isPositive();
    }
}
