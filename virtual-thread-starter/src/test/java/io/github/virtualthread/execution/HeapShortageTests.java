package io.github.virtualthread.execution;

import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Calls while another thread fills the heap and lets it go, over and over. Each kind of call has a JVM of its own, two of which
 * run at a time. Longer by {@code -Dshortage.seconds=25}.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
@Tag("slow")
@EnabledForJreRange(min = JRE.JAVA_24, disabledReason = "before that the JDK loses virtual threads that find no memory")
@Execution(ExecutionMode.CONCURRENT)
@Tag("jdk")
class HeapShortageTests {

    private static final long SECONDS = Long.getLong("shortage.seconds", 4);
    private static final Map<ShortageCalls, Future<ChildJvm.Report>> reports = new EnumMap<>(ShortageCalls.class);
    private static final ExecutorService two = Executors.newFixedThreadPool(2);

    @BeforeAll
    static void begin() {
        for (ShortageCalls kind : ShortageCalls.values()) {
            reports.put(kind, two.submit(() -> run(kind)));
        }
    }

    private static ChildJvm.Report run(ShortageCalls kind) throws Exception {
        return new ChildJvm(HeapShortage.class)
                .with("-Xmx64m", "-XX:+UseSerialGC")
                .run(kind, SECONDS);
    }

    @AfterAll
    static void end() {
        two.shutdownNow(); // ends the children too
    }

    @ParameterizedTest
    @EnumSource
    void aShortageOfHeapCostsNothingForGood(ShortageCalls kind) throws Exception {
        ChildProgram.assertOnceOfThree(report(kind), () -> run(kind), ChildProgram::assertNothingLost);
    }

    private static ChildJvm.Report report(ShortageCalls kind) throws Exception {
        ChildJvm.Report report = reports.get(kind).get();
        System.out.println(kind + " " + report.figures());
        return report;
    }
}
