package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Nobody reports the rejections of others: neither a caller, nor a call that ends, nor a stop. And they are reported in time, also
 * while bodies keep all carriers. The bounds allow for a busy machine; the figures of an idle one are in the report of the build.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Tag("slow")
@Tag("jdk")
class ReportStormTests {

    private static final int CARRIERS = 2;

    /** On an idle machine a tenth of a second is enough. Who reported the rejections of others took ten. */
    private static final long SOON = 1_000;

    private static ChildJvm.Report run(int carriers, Object... arguments) throws Exception {
        ChildJvm.Report report = new ChildJvm(ReportStorm.class)
                .withCarriers(carriers)
                .with("--add-exports=java.base/jdk.internal.vm=ALL-UNNAMED", "-Xmx3g")
                .run(arguments);
        System.out.println(
                String.join(" ", Arrays.stream(arguments).map(String::valueOf).toList()) + " " + report.figures());
        assertThat(report.exit()).as(report.output()).isZero();
        return report;
    }

    private static void assertAtMost(ChildJvm.Report report, String figure, long most) {
        assertThat(report.figures()).as(report.output()).containsKey(figure);
        assertThat(report.figures().get(figure))
                .as("%s, in %s", figure, report.figures())
                .isBetween(0L, most);
    }

    @ParameterizedTest
    @CsvSource({
        "EVICTION, false, 200000",
        "EVICTION, true, 200000",
        "MAX_WAIT, false, 200000",
        "MAX_WAIT, true, 200000",
        "STOP, false, 200000",
        "STOP, true, 200000"
    })
    void nobodyReportsTheRejectionsOfOthers(ReportStorm.By by, boolean busy, int waiting) throws Exception {
        ChildJvm.Report report = run(CARRIERS, "callers", by, busy, waiting);

        assertAtMost(report, "ms of the longest submit", SOON);
        assertAtMost(report, "ms of the longest change", SOON);
        assertAtMost(report, "ms of the longest close", SOON);
        assertAtMost(report, "ms for who asked", SOON);
        if (!busy) {
            assertAtMost(report, "ms of the latest outcome", SOON);
        }
    }

    @Test
    void underSteadyOverloadTheOutcomesOfServedCallsAreNotLate() throws Exception {
        assertAtMost(run(CARRIERS, "overload", 20), "us of the 99th outcome of 100", 50_000);
    }

    @Test
    void aStopDoesNotWaitForWhatHangsOnFutures() throws Exception {
        ChildJvm.Report report = run(CARRIERS, "stop", 2_000, Duration.ofMinutes(1));

        assertAtMost(report, "ms of the stop", 30_000);
        assertAtMost(report, "threads for the stop", 64);
        ChildProgram.assertFigures(
                report,
                Map.of("stops that failed", 0L, "open futures after the stop", 0L, "futures that do not say why", 0L));
    }

    @ParameterizedTest
    @CsvSource({"200, PT0.2S", "50, PT1S"})
    void callersAreNotifiedInTimeWhilePinnedBodiesKeepTheCarriers(int perSecond, Duration fallback) throws Exception {
        ChildJvm.Report report = run(16, "pinned", perSecond, fallback, Duration.ofSeconds(10));

        assertAtMost(report, "ms of the latest report at first", 6_000);
        assertAtMost(report, "ms of the latest report then", 6_000);
    }

    @Test
    void sixtyRejectionsAreReportedEachSecondThoughAllCallersBlock() throws Exception {
        ChildJvm.Report report = run(16, "pinned", 200, Duration.ofSeconds(1), Duration.ofSeconds(10));

        assertThat(report.figures().get("reports each second"))
                .as(report.output())
                .isGreaterThanOrEqualTo(40);
    }

    @Test
    void thousandsOfTimeoutsAtOnceDoNotHoldUpAnother() throws Exception {
        ChildJvm.Report report = run(CARRIERS, "timeouts", 5_000);

        ChildProgram.assertFigures(report, Map.of("missed timeouts", 0L));
        assertAtMost(report, "ms of the latest timeout", 4_000);
    }
}
