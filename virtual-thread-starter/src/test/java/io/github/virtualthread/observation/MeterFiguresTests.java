package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.virtualthread.execution.TaskCall;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.limit.LimitSettings;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the meters cost a call. */
@Timeout(300)
@Tag("benchmark")
class MeterFiguresTests {

    private static final int NUMBER = 200_000;

    /** In bytes: 48 for the two durations that a call is asked for, and a little for what is not compiled yet. */
    private static final long MOST = 64;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void aCallMakesNoKeyAndNoTag() {
        try (MeteredEngine test = MeteredEngine.started(new SimpleMeterRegistry(), LimitSettings.of("db", 1))) {
            TaskCall call = new Call(test.engine.spec("Shop.price", "db"));
            TaskListener meters = test.meters.calls();
            measure(meters, call);
            long begin = System.nanoTime();
            long bytes = measure(meters, call);
            long nanos = (System.nanoTime() - begin) / NUMBER;

            System.out.printf("meters of one call: %d bytes, %d ns%n", bytes, nanos);
            assertThat(bytes).isLessThanOrEqualTo(MOST);
        }
    }

    private static long measure(TaskListener meters, TaskCall call) {
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < NUMBER; i++) {
            meters.submitted(call);
            meters.started(call);
            meters.finished(call, Outcome.SUCCESS, null);
        }
        return (THREADS.getCurrentThreadAllocatedBytes() - before) / NUMBER;
    }

    private record Call(TaskSpec spec) implements TaskCall {

        @Override
        public long id() {
            return 1;
        }

        @Override
        public @Nullable String key() {
            return null;
        }

        @Override
        public boolean isStarted() {
            return true;
        }

        @Override
        public Duration waited() {
            return Duration.ofNanos(System.nanoTime() & 0xFFFF);
        }

        @Override
        public Duration ran() {
            return Duration.ofNanos(System.nanoTime() & 0xFFFF);
        }
    }
}
