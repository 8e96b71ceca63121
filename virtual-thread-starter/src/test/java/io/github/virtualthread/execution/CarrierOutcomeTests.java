package io.github.virtualthread.execution;

import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Bodies that ignore interrupts keep every carrier: callers on platform threads hear of the ends of their calls all the same. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
@Tag("jdk")
class CarrierOutcomeTests {

    @Test
    void everyOutcomeIsHeardWhileBodiesKeepEveryCarrier() throws Exception {
        ChildJvm.Report report = new ChildJvm(CarrierShortage.class)
                .withCarriers(CarrierShortage.CARRIERS)
                .run();
        System.out.println(report.figures());
        ChildProgram.assertFigures(
                report,
                Map.of(
                        "missed timeout", 0L,
                        "missed end of a wait", 0L,
                        "missed end of the wait of a caller", 0L,
                        "missed deadline", 0L,
                        "missed deadline of a caller", 0L,
                        "missed eviction", 0L,
                        "missed eviction of a caller", 0L,
                        "handlers of void calls not called", 0L,
                        "warnings missed", 0L,
                        "bodies that spin", (long) CarrierShortage.CARRIERS));
    }

    /** To start a platform thread may take many milliseconds, and nothing else runs on a carrier that waits for that. */
    @Test
    void noCarrierStartsPlatformThreads() throws Exception {
        ChildJvm.Report report =
                new ChildJvm(CarrierHandOffs.class).withCarriers(1).run();
        ChildProgram.assertFigures(
                report,
                Map.of(
                        "late hand offs run while the carrier is kept", 2L,
                        "actions not run", 0L,
                        "actions on platform threads", 0L));
    }
}
