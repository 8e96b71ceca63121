package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A JVM of its own, so that no other test has a limit that only watches. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT)
@Tag("jdk")
class DryRunCostTests {

    @Test
    void limitsInForceLoadNothingOfDryRuns(@TempDir Path folder) throws Exception {
        Path loaded = folder.resolve("loaded.txt");

        ChildJvm.Report report = new ChildJvm(LeaseCostTests.Calls.class)
                .with("-Xlog:class+load:file=" + loaded)
                .run();

        assertThat(report.exit()).as(report.output()).isZero();
        assertThat(report.figures()).containsEntry("ended", 200L);
        assertThat(Files.readString(loaded)).contains("limit.Permits ").doesNotContain("limit.DryRun", "limit.Shadow");
    }
}
