package io.github.virtualthread.bench.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.bench.page.BenchReport.Figures;
import io.github.virtualthread.bench.page.BenchReport.Jar;
import io.github.virtualthread.bench.page.BenchReport.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * The page on performance is what was measured. After {@code mvn verify -Pbench}, who runs this test with
 * {@code -Dperformance.write=true} has both written anew.
 */
class PerformancePageTests {

    private static final Path RESULTS = Path.of("target", "bench", "results.json");
    private static final Path MEASURED = Path.of("..", "docs", "performance.json");
    private static final Path PAGE = Path.of("..", "docs", "performance.md");

    @Test
    void thePageIsWhatWasMeasured() throws IOException {
        if (Boolean.getBoolean("performance.write")) {
            BenchReport.read(RESULTS).write(MEASURED);
            Files.writeString(PAGE, PerformancePage.of(BenchReport.read(MEASURED)));
        }

        assertThat(PAGE).hasContent(PerformancePage.of(BenchReport.read(MEASURED)));
    }

    @Test
    void aTargetIsHeldAgainstTheMedianOfTheRatiosWithinARound() {
        BenchReport report = report(List.of(100.0, 400.0, 200.0), List.of(100.0, 200.0, 200.0));

        assertThat(row(report)).isEqualTo("| ours | 1.10 × | 1.00 × | reached |\n");
    }

    @Test
    void aTargetThatIsMissedIsCalledSo() {
        assertThat(row(report(List.of(120.0), List.of(100.0)))).isEqualTo("| ours | 1.10 × | 1.20 × | missed |\n");
    }

    private static String row(BenchReport report) {
        return Target.time("ours", 1.10, "EmptyBody.burst", "ours", "floor").row(report);
    }

    private static BenchReport report(List<Double> ours, List<Double> floor) {
        return new BenchReport(
                new Machine(2, 1_024, "25", "4.1", "7.0", "Linux", "2026-01-02", 0),
                ours.size(),
                List.of(
                        new Figures("EmptyBody.burst", Map.of("contender", "ours"), ours, "ns/op", List.of()),
                        new Figures("EmptyBody.burst", Map.of("contender", "floor"), floor, "ns/op", List.of())),
                new Jar(1, 1, List.of()));
    }
}
