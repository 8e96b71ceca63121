package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One limit under stress, seen from within its bodies: how many run, and in which order they start. */
final class StressLimit {

    /** When a call was made: after that moment it waits, or has its permit. Moments are counted, and differ. */
    static final class Turn {

        private static final AtomicLong MOMENTS = new AtomicLong();

        private final long begun = MOMENTS.incrementAndGet();
        private volatile long made = Long.MAX_VALUE;

        void made() {
            made = MOMENTS.incrementAndGet();
        }

        boolean isBefore(Turn other) {
            return made < other.begun;
        }
    }

    final LimitSettings settings;

    private final AtomicLong state; // high half: most that may run, low half: those that run; compared at one moment
    private final AtomicInteger tooMany = new AtomicInteger();
    private final Queue<Turn> starts = new ConcurrentLinkedQueue<>();
    private volatile int largest;

    StressLimit(LimitSettings settings) {
        this.settings = settings;
        this.state = new AtomicLong(packed(settings.permits(), 0));
        this.largest = settings.permits();
    }

    private static long packed(int most, int running) {
        return ((long) most << 32) | running;
    }

    private static int most(long state) {
        return (int) (state >>> 32);
    }

    private void bound(int most) {
        state.updateAndGet(now -> packed(most, (int) now));
    }

    /** Runs a body under the permit. A turn is null where the order means nothing. */
    @Nullable
    Object run(@Nullable Turn turn, TaskBody body) throws Throwable {
        long now = state.incrementAndGet();
        if ((int) now > most(now)) {
            tooMany.incrementAndGet();
        }
        if (turn != null) {
            starts.add(turn);
        }
        try {
            return body.run();
        } finally {
            state.decrementAndGet();
        }
    }

    /**
     * Those that run when a limit shrinks may end: more than the new number may run until then. A call that gets its permit
     * after the change proves that they have ended; from then on the new number counts.
     */
    void resize(TestEngine test, int permits, StressOutcomes outcomes) {
        largest = Math.max(largest, permits);
        if (permits > most(state.get())) {
            bound(permits);
        }
        TaskLimit limit = test.limit(settings.name());
        limit.resize(permits);
        try {
            outcomes.submitted.increment();
            test.engine.call(test.engine.spec("Stress.resized", settings.name()), () -> {
                bound(permits);
                return null;
            });
            outcomes.add(null);
        } catch (LimitExceededException full) {
            outcomes.add(full);
        } catch (Throwable unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    /** Nobody runs: the limit is as it was in the beginning. */
    void reset(TestEngine test) {
        test.limit(settings.name()).resize(settings.permits());
        state.set(packed(settings.permits(), 0));
        largest = settings.permits();
        starts.clear();
    }

    int running() {
        return (int) state.get();
    }

    int tooMany() {
        return tooMany.get();
    }

    /**
     * How many calls have started before earlier ones that still waited. Permits go out in order. Two threads that have theirs
     * may start in any order; but when one starts, whoever came before and has not started yet holds a permit beside it, so
     * these are fewer than there are permits.
     */
    long overtaken() {
        List<Turn> turns = List.copyOf(starts);
        return IntStream.range(0, turns.size())
                .filter(i -> turns.subList(i + 1, turns.size()).stream()
                                .filter(later -> later.isBefore(turns.get(i)))
                                .count()
                        >= largest)
                .count();
    }
}
