package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.lang.management.ManagementFactory;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a permit costs, taken and given back, where the limit is in force and where it only watches. */
@Timeout(300)
@Tag("benchmark")
class DryRunFiguresTests extends TimedLimits {

    private static final int NUMBER = 1_000_000;
    private static final int ROUNDS = 7;
    private static final int PERMITS = 20;
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private record Cost(double nanos, long bytes) {

        @Override
        public String toString() {
            return "%.0f ns, %d bytes".formatted(nanos, bytes);
        }
    }

    @Test
    void aCallUnderALimitThatWatches() {
        LimitSettings inForce = LimitSettings.of("db", PERMITS);
        Cost off = cost(limit(inForce), 8);
        Cost idle = cost(limit(inForce.withDryRun(true)), 8);
        Cost half = cost(limit(inForce.withDryRun(true)), 15);
        Cost full = cost(limit(inForce.withDryRun(true).withQueueCapacity(100)), 60);
        Cost offAgain = cost(limit(inForce), 8);

        System.out.printf(
                "a permit: in force %s (again %s); watching: %s if no shadow is full, %s if half of them is, %s if all are%n",
                off, offAgain, idle, half, full);
        assertThat(off.bytes).isZero();
    }

    /** The best of several rounds, while so many calls run at once. */
    private static Cost cost(TaskLimit limit, int atOnce) {
        double nanos = Double.MAX_VALUE;
        long bytes = 0;
        Deque<Visit> running = new ArrayDeque<>(atOnce + 1);
        for (int round = 0; round < ROUNDS; round++) {
            Visit[] visits = new Visit[NUMBER];
            for (int i = 0; i < NUMBER; i++) {
                visits[i] = new Visit(limit);
            }
            long allocated = THREADS.getCurrentThreadAllocatedBytes();
            long begin = System.nanoTime();
            for (Visit visit : visits) {
                visit.come();
                running.add(visit);
                if (running.size() > atOnce) {
                    running.remove().giveBack();
                }
            }
            nanos = Math.min(nanos, (System.nanoTime() - begin) / (double) NUMBER);
            bytes = (THREADS.getCurrentThreadAllocatedBytes() - allocated) / NUMBER;
        }
        return new Cost(nanos, bytes);
    }

    private static final class Visit extends PermitRequest {

        private final TaskLimit limit;

        Visit(TaskLimit limit) {
            this.limit = limit;
        }

        void come() {
            if (ask(Long.MAX_VALUE) != null) {
                throw new AssertionError();
            }
        }

        @Override
        protected TaskLimit limit() {
            return limit;
        }

        @Override
        protected void granted() {}

        @Override
        protected void onStartFailed(Throwable failure) {}

        @Override
        protected void reportRejected(@Nullable Reason reason) {}

        @Override
        protected void reportSoon() {}
    }
}
