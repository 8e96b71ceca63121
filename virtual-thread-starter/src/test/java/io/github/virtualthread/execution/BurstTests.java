package io.github.virtualthread.execution;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A queue without a capacity, under a maximum wait, with more calls than there is memory for. Longer by {@code -Dburst.seconds=12}.
 */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Tag("slow")
@EnabledForJreRange(min = JRE.JAVA_24, disabledReason = "before that the JDK loses virtual threads that find no memory")
@Execution(ExecutionMode.CONCURRENT)
@Tag("jdk")
class BurstTests {

    private static final long SECONDS = Long.getLong("burst.seconds", 6);

    @ParameterizedTest
    @ValueSource(strings = {"-XX:+UseSerialGC", "-XX:+UseG1GC"})
    void aBurstThatFillsTheHeapEndsWithEveryCallTold(String collector) throws Exception {
        ChildProgram.assertOnceOfThree(run(collector), () -> run(collector), BurstTests::assertEveryCallTold);
    }

    private static ChildJvm.Report run(String collector) throws Exception {
        return new ChildJvm(Burst.class).with("-Xmx96m", collector).run(SECONDS);
    }

    private static void assertEveryCallTold(ChildJvm.Report report) {
        System.out.println(report.figures());
        Map<String, Long> expected = new HashMap<>(ChildProgram.NOTHING_LOST);
        expected.put("callers that hang", 0L);
        expected.put("futures not told", 0L);
        expected.put("futures not told after the stop", 0L);
        expected.put("stuck calls not seen", 0L);
        ChildProgram.assertFigures(report, expected);
    }
}
