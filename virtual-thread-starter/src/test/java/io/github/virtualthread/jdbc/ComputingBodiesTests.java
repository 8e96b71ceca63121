package io.github.virtualthread.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.ChildJvm;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pool as large as the limit, and fewer carriers than that. */
@Tag("slow")
@Tag("jdk")
@Timeout(value = 15, unit = TimeUnit.MINUTES)
class ComputingBodiesTests {

    /** A thread that gives a connection back to HikariCP keeps its carrier until who waits for one has run, unless it can park. */
    @Test
    void bodiesThatAreStoppedLeaveCarriersToThoseThatWaitForAConnection() throws Exception {
        ChildJvm.Report report =
                new ChildJvm(ComputingBodies.class).withCarriers(2).run();

        assertThat(report.figures()).as(report.output()).containsEntry("calls", (long) ComputingBodies.CALLS);
    }
}
