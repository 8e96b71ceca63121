package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.lang.management.ManagementFactory;
import java.util.List;
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
    private static final int BYTES = 56; // of a ShadowCall
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
        assertThat(List.of(idle, half, full))
                .as("one object, and no map or heap that grows")
                .allSatisfy(watching -> assertThat(watching.bytes).isLessThanOrEqualTo(BYTES));
    }

    /** The best of several rounds, while so many calls run at once. */
    private static Cost cost(TaskLimit limit, int atOnce) {
        double nanos = Double.MAX_VALUE;
        long bytes = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Visit[] visits = new Visit[NUMBER];
            for (int i = 0; i < NUMBER; i++) {
                visits[i] = new Visit(limit);
            }
            System.gc(); // a collection of young objects would copy all of these within the time
            long allocated = THREADS.getCurrentThreadAllocatedBytes();
            long begin = System.nanoTime();
            comeAndGo(visits, atOnce);
            nanos = Math.min(nanos, (System.nanoTime() - begin) / (double) NUMBER);
            bytes = (THREADS.getCurrentThreadAllocatedBytes() - allocated) / NUMBER;
        }
        return new Cost(nanos, bytes);
    }

    /** All have gone at the end: one that ran until the next round would keep the shadows full for most of that. */
    private static void comeAndGo(Visit[] visits, int atOnce) {
        for (int i = 0; i < visits.length + atOnce; i++) {
            if (i < visits.length) {
                visits[i].come();
            }
            if (i >= atOnce) {
                visits[i - atOnce].giveBack();
            }
        }
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
