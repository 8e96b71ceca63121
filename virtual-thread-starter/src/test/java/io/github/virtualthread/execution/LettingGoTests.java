package io.github.virtualthread.execution;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** To let waiting calls go takes little more memory than to have them wait, which is when memory is short. */
@Timeout(value = 15, unit = TimeUnit.MINUTES)
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
@Tag("jdk")
class LettingGoTests {

    @ParameterizedTest
    @EnumSource
    void halfAMillionWaitingCallsAreLetGoWithAQuarterOfAGigabyte(LettingGo.By by) throws Exception {
        Map<String, Long> expected = new HashMap<>(by == LettingGo.By.STOP ? Map.of() : ChildProgram.NOTHING_LOST);
        expected.put("idle after the stop", 1L);
        assertAllAreLetGo(by, 500_000, "-Xmx250m", expected);
    }

    @Test
    void aMillionWaitingCallsAreEvictedWithLessThanAGigabyte() throws Exception {
        assertAllAreLetGo(LettingGo.By.EVICTION, 1_000_000, "-Xmx900m", ChildProgram.NOTHING_LOST);
    }

    private static void assertAllAreLetGo(LettingGo.By by, int number, String heap, Map<String, Long> expected)
            throws Exception {
        ChildJvm.Report report =
                new ChildJvm(LettingGo.class).with(heap, "-XX:+UseG1GC").run(by, number);
        System.out.println(by + " " + report.figures());
        Map<String, Long> all = new HashMap<>(expected);
        all.put("thrown", 0L);
        all.put("not told", 0L);
        all.put("callers that hang", 0L);
        ChildProgram.assertFigures(report, all);
    }
}
