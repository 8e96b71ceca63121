package io.github.virtualthread.bench.page;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.bench.page.BenchReport.Figures;
import io.github.virtualthread.bench.page.BenchReport.Jar;
import io.github.virtualthread.bench.page.BenchReport.Machine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The page on performance is what was measured. After {@code mvn verify -Pbench}, who runs this test with
 * {@code -Dperformance.write=true} has the page and the goals of a decision written anew.
 */
class PerformancePageTests {

    private static final Path RESULTS = Path.of("target", "bench", "results.json");
    private static final Path MEASURED = Path.of("..", "docs", "performance.json");
    private static final Path PAGE = Path.of("..", "docs", "performance.md");
    private static final Path GOALS = Path.of("..", "docs", "decisions", "0021-measure-what-users-have.md");

    @BeforeAll
    static void write() throws IOException {
        if (Boolean.getBoolean("performance.write")) {
            if (Files.exists(RESULTS)) {
                BenchReport found = BenchReport.read(RESULTS);
                assertThat(missing(found))
                        .as("Not measured: run all benchmarks, without -Dbench.include")
                        .isEmpty();
                found.write(MEASURED);
            }
            BenchReport report = BenchReport.read(MEASURED);
            Files.writeString(PAGE, PerformancePage.of(report));
            Files.writeString(
                    GOALS, PerformancePage.in(Files.readString(GOALS), "goals", PerformancePage.goals(report)));
        }
    }

    private static List<String> missing(BenchReport report) {
        return Goal.ALL.stream()
                .filter(goal -> goal.found().apply(report).isEmpty())
                .map(Goal::what)
                .toList();
    }

    @Test
    void thePageIsWhatWasMeasured() throws IOException {
        assertThat(PAGE).hasContent(PerformancePage.of(BenchReport.read(MEASURED)));
    }

    @Test
    void theDecisionHasTheGoalsThatWereMissed() throws IOException {
        BenchReport report = BenchReport.read(MEASURED);

        assertThat(GOALS)
                .hasContent(PerformancePage.in(Files.readString(GOALS), "goals", PerformancePage.goals(report)));
    }

    @Test
    void aGoalIsHeldAgainstTheMedianOfTheRatiosWithinARound() {
        List<Double> ours = List.of(100.0, 400.0, 400.0, 101.0, 100.0);
        List<Double> floor = List.of(100.0, 200.0, 200.0, 100.0, 90.0);

        assertThat(goal(ours, floor)).isEqualTo("- ours: 1.11 ×, goal 1.10, not proven\n");
    }

    @Test
    void aGoalThatIsReachedIsLeftOut() {
        assertThat(goal(Collections.nCopies(5, 110.0), Collections.nCopies(5, 100.0)))
                .isEmpty();
    }

    @Test
    void aGoalThatIsMissedIsCalledSo() {
        assertThat(goal(List.of(110.0, 120.0, 121.0, 122.0, 120.0), Collections.nCopies(5, 100.0)))
                .isEqualTo("- ours: 1.20 ×, goal 1.10\n");
    }

    @Test
    void fewRoundsProveNothing() {
        assertThat(goal(List.of(120.0, 120.0, 120.0), Collections.nCopies(3, 100.0)))
                .isEqualTo("- ours: 1.20 ×, goal 1.10, not proven\n");
    }

    @Test
    void bytesDecideWhereTheTimesOfStartsAreAsCloseAsARunCanTell() {
        assertThat(start(108.0, 106.0)).as("within 0.03, too many bytes").isEqualTo("- ours: 1.06 ×, goal 1.05\n");
        assertThat(start(108.0, 104.0)).as("within 0.03").isEmpty();
        assertThat(start(103.0, 109.0)).as("within 0.03, the other way").isEqualTo("- ours: 1.09 ×, goal 1.05\n");
        assertThat(start(109.0, 104.0)).as("further away").isEqualTo("- ours: 1.09 ×, goal 1.05\n");
        assertThat(start(101.0, 109.0)).as("further away, the other way").isEmpty();
    }

    private static String start(double time, double bytes) {
        return Goal.start("ours", 1.05, "StartUp.first", "ours", "plain")
                .missed(report(false, start("ours", time, bytes), start("plain", 100.0, 100.0)));
    }

    private static Figures start(String contender, double time, double bytes) {
        return new Figures(
                "StartUp.first",
                Map.of("contender", contender),
                Collections.nCopies(5, time),
                "ms/op",
                Collections.nCopies(5, bytes),
                List.of());
    }

    @Test
    void aGoalThatWasNotMeasuredIsCalledSo() {
        assertThat(Goal.time("ours", 1.10, "EmptyBody.joined", "ours", "jdk").missed(report(false)))
                .isEqualTo("- ours: not measured\n");
    }

    @Test
    void whatIsNoticedIsComparedWithTheBestThatHasALimit() {
        BenchReport report = report(
                false,
                figures("ParkingBody.burst", "ours-full", 18_000.0),
                figures("ParkingBody.burst", "async-full", 20_000.0),
                figures("ParkingBody.burst", "async-pool", 17_000.0),
                figures("ParkingBody.burst", "jdk", 1_000.0));

        assertThat(PerformancePage.of(report))
                .contains("| a call whose body waits for 1 ms, 64 at a time | 18.0 µs | `@Async`, pool | 17.0 µs"
                        + " | 1.06 × | 5 of 5 |\n");
        assertThat(PerformancePage.goals(report))
                .contains("- `ours-full` / the best other, body that waits for 1 ms: 1.06 ×, goal 1.02\n");
    }

    @Test
    void aRunThatWasForcedIsCalledSo() {
        assertThat(PerformancePage.of(report(true)))
                .contains("**The machine was not idle.** Its load average was 3.1")
                .contains("The load average before the run was 3.1, forced with `-Dbench.anyway=true`.\n");
        assertThat(PerformancePage.of(report(false))).doesNotContain("not idle", "forced");
    }

    private static String goal(List<Double> ours, List<Double> floor) {
        return Goal.time("ours", 1.10, "EmptyBody.joined", "ours", "floor")
                .missed(report(
                        false, figures("EmptyBody.joined", "ours", ours), figures("EmptyBody.joined", "floor", floor)));
    }

    private static Figures figures(String benchmark, String contender, double time) {
        return figures(benchmark, contender, Collections.nCopies(5, time));
    }

    private static Figures figures(String benchmark, String contender, List<Double> scores) {
        return new Figures(benchmark, Map.of("contender", contender), scores, "ns/op", List.of(), List.of());
    }

    private static BenchReport report(boolean anyway, Figures... figures) {
        return new BenchReport(
                new Machine(2, 1_024, "25", "4.1", "7.0", "Linux", "2026-01-02", 3.1, anyway),
                5,
                List.of(figures),
                new Jar(1, 1, List.of()));
    }
}
