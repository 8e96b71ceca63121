package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.fail;

import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.junit.jupiter.api.Assumptions;

/** Tries of a test that goes by the clock: one must pass. If the machine kept time in none of them, they tell nothing. */
final class Tries {

    /** How a try ended; it is busy if it did not pass and the machine did not keep time. */
    enum Ending {
        PASSED,
        FAILED,
        BUSY
    }

    private Tries() {}

    static void onePasses(int tries, Supplier<Ending> attempt) {
        Set<Ending> endings = EnumSet.noneOf(Ending.class);
        for (int i = 0; i < tries && !endings.contains(Ending.PASSED); i++) {
            endings.add(attempt.get());
        }
        if (!endings.contains(Ending.PASSED)) {
            Assumptions.assumeTrue(endings.contains(Ending.FAILED), "this machine is too busy to keep time");
            fail("none of %d tries passed, though the machine kept time", tries);
        }
    }

    /** Whether pauses end in time: on average at most a fiftieth too late. */
    static final class Pauses {

        private final LongAdder wanted = new LongAdder();
        private final LongAdder late = new LongAdder();

        void add(long wanted, long paused) {
            this.wanted.add(wanted);
            late.add(Math.max(0, paused - wanted));
        }

        Ending ending(boolean passed) {
            return passed ? Ending.PASSED : late.sum() > wanted.sum() / 50 ? Ending.BUSY : Ending.FAILED;
        }

        @Override
        public String toString() {
            return "pauses %.2f %% too long".formatted(100.0 * late.sum() / wanted.sum());
        }
    }
}
