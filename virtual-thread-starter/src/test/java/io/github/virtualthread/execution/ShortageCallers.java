package io.github.virtualthread.execution;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** Threads that make calls while something is short. They themselves need neither memory nor further threads. */
final class ShortageCallers {

    private static final int CALLS_AT_ONCE = 128; // of each caller

    /** Makes one call; null where that has ended when this returns. */
    interface Calls {

        @Nullable
        Future<?> next() throws Throwable;
    }

    private final List<Caller> callers;
    private volatile boolean over;

    /** One thread for each. */
    ShortageCallers(List<Calls> calls) {
        callers = calls.stream().map(Caller::new).toList();
    }

    void start() {
        callers.forEach(caller -> caller.thread.start());
    }

    /** What is loaded and initialized first when something is short may stay broken, whoever it is of. */
    void awaitWarm() {
        long enough = CALLS_AT_ONCE * 8L;
        ChildProgram.until(() -> callers.stream().allMatch(caller -> caller.made > enough), Duration.ofSeconds(5));
    }

    /** To be called when nothing is short any more: callers do again what an error has prevented. */
    void end() {
        LockSupport.parkNanos(100_000_000);
        over = true;
        ChildProgram.until(() -> hanging() == 0);
        ChildProgram.tell(
                "calls made", callers.stream().mapToLong(caller -> caller.made).sum());
        ChildProgram.tell(
                "errors thrown to callers",
                callers.stream().mapToLong(caller -> caller.threw).sum());
    }

    /** Futures that are not complete. */
    long open() {
        return callers.stream().mapToLong(Caller::open).sum();
    }

    long hanging() {
        return callers.stream().filter(caller -> caller.thread.isAlive()).count();
    }

    private final class Caller implements Runnable {

        final Thread thread = new Thread(this);
        private final Calls calls;
        private final @Nullable Future<?>[] ring = new Future<?>[CALLS_AT_ONCE];
        volatile long made;
        volatile long threw;

        Caller(Calls calls) {
            this.calls = calls;
            thread.setDaemon(true);
        }

        @Override
        @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
        public void run() {
            for (int i = 0; !over; i = (i + 1) % CALLS_AT_ONCE) {
                try {
                    Future<?> before = ring[i];
                    if (before == null || before.isDone()) {
                        made++;
                        ring[i] = null;
                        ring[i] = calls.next();
                    } else {
                        LockSupport.parkNanos(20_000);
                    }
                } catch (Throwable shortage) {
                    threw++;
                }
            }
        }

        long open() {
            long open = 0;
            for (Future<?> future : ring) {
                open += future == null || future.isDone() ? 0 : 1;
            }
            return open;
        }
    }
}
