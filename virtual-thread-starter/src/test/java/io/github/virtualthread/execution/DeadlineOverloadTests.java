package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * An overload in which most deadlines pass does not collapse: the refusals leave the processors to the calls that are in time.
 *
 * <p>If each refusal got a thread as soon as it is due, calls with permits would queue for a carrier behind thousands of those, until
 * their own deadlines pass.
 */
@Timeout(600)
@Tag("slow")
@Tag("jdk")
class DeadlineOverloadTests {

    private static final int CALLS = 30_000;
    private static final long LONGEST = TimeUnit.MILLISECONDS.toNanos(30);
    private static final int PERMITS = 333; // for runs of 1 ms: a third of the calls fits into 30 ms
    private static final int COLD = 3; // rounds in which the JVM still compiles what they run
    private static final int FEWEST = 8;
    private static final int MOST = 30;

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("partner", PERMITS));

    private final Random random = new Random(7);

    /** By turns, until the machine has let both do their work; with a thread for each refusal the share is about a third. */
    @Test
    void atLeastHalfAsManyCallsAreDoneInTimeAsWithoutDeadlines() throws Exception {
        for (int round = 0; round < COLD; round++) {
            doneInTime(false);
            doneInTime(true);
        }
        long without = 0;
        long inTime = 0;
        int rounds = 0;
        while (rounds < FEWEST || rounds < MOST && inTime < without / 2) {
            without += doneInTime(false);
            inTime += doneInTime(true);
            rounds++;
        }

        System.out.printf(
                "%,d calls at once with deadlines of 0 to 30 ms, %d permits, runs of 1 ms, means of %d rounds: %,d done in time;"
                        + " the same calls without deadlines: %,d done in that time%n",
                CALLS, PERMITS, rounds, inTime / rounds, without / rounds);
        assertThat(inTime).isGreaterThanOrEqualTo(without / 2);
        assertThat(test.limit("partner").available()).isEqualTo(PERMITS);
        assertThat(test.limit("partner").waiting()).isZero();
    }

    /** How many calls are done before their deadline; without deadlines, before the last deadline that there would be. */
    private long doneInTime(boolean deadlines) throws InterruptedException {
        List<TaskSpec> specs = new ArrayList<>(CALLS);
        for (int i = 0; i < CALLS; i++) {
            Duration deadline = Duration.ofNanos(1 + random.nextLong(LONGEST));
            specs.add(test.engine.spec("Shop.price", "partner", null, deadlines ? deadline : null));
        }
        long[] doneAt = new long[CALLS];
        LongAdder inTime = new LongAdder();
        List<CompletableFuture<@Nullable Object>> futures = new ArrayList<>(CALLS);
        for (int i = 0; i < CALLS; i++) {
            int call = i;
            Duration own = specs.get(call).deadline();
            long due = System.nanoTime() + (own == null ? 0 : own.toNanos());
            futures.add(test.engine.submit(specs.get(call), () -> {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                long now = System.nanoTime();
                doneAt[call] = now;
                if (due - now >= 0) {
                    inTime.increment();
                }
                return null;
            }));
        }
        long last = System.nanoTime() + LONGEST;
        TestEngine.awaitIdle(test);
        assertThat(futures).allMatch(CompletableFuture::isDone);
        if (deadlines) {
            return inTime.sum();
        }
        long done = 0;
        for (long at : doneAt) {
            done += last - at >= 0 ? 1 : 0;
        }
        return done;
    }
}
