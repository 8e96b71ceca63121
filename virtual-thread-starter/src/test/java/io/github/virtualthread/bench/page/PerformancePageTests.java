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
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The page on performance is what was measured. After {@code mvn verify -Pbench}, who runs this test with
 * {@code -Dperformance.write=true} has the page and the tables of the decisions written anew.
 */
class PerformancePageTests {

    private static final Path RESULTS = Path.of("target", "bench", "results.json");
    private static final Path MEASURED = Path.of("..", "docs", "performance.json");
    private static final Path PAGE = Path.of("..", "docs", "performance.md");
    private static final Path TARGETS = Path.of("..", "docs", "decisions", "0011-a-table-for-the-calls-that-run.md");
    private static final Path JAR = Path.of("..", "docs", "decisions", "0010-size-of-the-jar.md");

    @BeforeAll
    static void write() throws IOException {
        if (Boolean.getBoolean("performance.write")) {
            if (Files.exists(RESULTS)) {
                BenchReport.read(RESULTS).write(MEASURED);
            }
            BenchReport report = BenchReport.read(MEASURED);
            Files.writeString(PAGE, PerformancePage.of(report));
            Files.writeString(
                    TARGETS, PerformancePage.in(Files.readString(TARGETS), "targets", PerformancePage.targets(report)));
            Files.writeString(JAR, PerformancePage.in(Files.readString(JAR), "jar", PerformancePage.jar(report)));
        }
    }

    @Test
    void thePageIsWhatWasMeasured() throws IOException {
        assertThat(PAGE).hasContent(PerformancePage.of(BenchReport.read(MEASURED)));
    }

    @Test
    void theDecisionsHaveTheTargetsAndTheJarThatWereMeasured() throws IOException {
        BenchReport report = BenchReport.read(MEASURED);

        assertThat(TARGETS)
                .hasContent(PerformancePage.in(Files.readString(TARGETS), "targets", PerformancePage.targets(report)));
        assertThat(JAR).hasContent(PerformancePage.in(Files.readString(JAR), "jar", PerformancePage.jar(report)));
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
                new Machine(2, 1_024, "25", "4.1", "7.0", "Linux", "2026-01-02", 0, false),
                ours.size(),
                List.of(figures("ours", ours), figures("floor", floor)),
                new Jar(1, 1, List.of()));
    }

    private static Figures figures(String contender, List<Double> scores) {
        return new Figures("EmptyBody.burst", Map.of("contender", contender), scores, "ns/op", List.of(), List.of());
    }
}
