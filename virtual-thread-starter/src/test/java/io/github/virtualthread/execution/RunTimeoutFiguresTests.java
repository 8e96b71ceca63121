package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.timer.TimerEntries;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a timeout costs. */
@Timeout(300)
@Tag("benchmark")
class RunTimeoutFiguresTests {

    private static final int NUMBER = 100_000;

    /** In bytes: 128 by the fields of the objects, and the index of the timer. */
    private static final long MOST = 150;

    private static final Pattern ROW = Pattern.compile("^ *\\d+: +\\d+ +(\\d+) +(\\S+)");

    private static final Duration LONG = Duration.ofHours(1);

    private record Figures(long bytesPerCall, int platformThreads, int timerEntries, int timerThreads) {}

    @Test
    void aTimeoutOfARunningCallCostsNoThreadAndFewBytes() throws Exception {
        measure(LONG, 1); // what is made once, for all calls
        Figures without = measure(null, NUMBER);
        Figures with = measure(LONG, NUMBER);

        System.out.printf("%d running calls: without timeout %s, with %s%n", NUMBER, without, with);
        assertThat(with.timerEntries()).isEqualTo(NUMBER);
        assertThat(with.timerThreads()).isEqualTo(1);
        assertThat(with.platformThreads() - without.platformThreads()).isLessThanOrEqualTo(4);
        assertThat(with.bytesPerCall() - without.bytesPerCall()).isLessThanOrEqualTo(MOST);
    }

    private static Figures measure(@Nullable Duration timeout, int number) throws Exception {
        CountDownLatch running = new CountDownLatch(number);
        CountDownLatch release = new CountDownLatch(1);
        List<CompletableFuture<?>> futures = new ArrayList<>(number);
        try (TestEngine test = new TestEngine()) {
            TaskSpec spec = test.engine.spec("Test.figures", null, timeout);
            TaskBody body = () -> {
                running.countDown();
                release.await();
                return null;
            };
            long before = usedHeap();
            for (int i = 0; i < number; i++) {
                futures.add(test.engine.submit(spec, body));
            }
            await(running);
            Figures figures = new Figures(
                    (usedHeap() - before) / number,
                    ManagementFactory.getThreadMXBean().getThreadCount(),
                    TimerEntries.count(test.timer),
                    TimerEntries.threads(test.timer));
            release.countDown();
            CompletableFuture.allOf(futures.toArray(CompletableFuture<?>[]::new))
                    .join();
            assertThat(TimerEntries.count(test.timer)).isZero();
            return figures;
        }
    }

    /** Bytes of what is alive, without the stacks of virtual threads: how large a frame is, the compilers choose at any time. */
    private static long usedHeap() throws JMException {
        String classes = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcClassHistogram",
                        new Object[] {new String[0]},
                        new String[] {String[].class.getName()});
        return classes.lines()
                .map(ROW::matcher)
                .filter(row -> row.find() && !row.group(2).equals("jdk.internal.vm.StackChunk"))
                .mapToLong(row -> Long.parseLong(row.group(1)))
                .sum();
    }
}
