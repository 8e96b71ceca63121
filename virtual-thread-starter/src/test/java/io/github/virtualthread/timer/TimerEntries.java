package io.github.virtualthread.timer;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.springframework.test.util.ReflectionTestUtils;

/** Looks into a timer, for tests of other packages. */
public final class TimerEntries {

    private TimerEntries() {}

    public static int count(TaskTimer timer) {
        return (int) timer.entries.stream().count(); // its size() still counts an entry for a moment after that is gone
    }

    /** Those whose action a class has written as a lambda. */
    public static long count(TaskTimer timer, Class<?> owner) {
        return of(timer, owner).count();
    }

    /** The earliest of those; empty if there is none. */
    public static Optional<? extends Future<?>> first(TaskTimer timer, Class<?> owner) {
        return of(timer, owner).findFirst();
    }

    private static Stream<TaskTimer.Entry> of(TaskTimer timer, Class<?> owner) {
        return timer.entries.stream().filter(entry -> {
            Object action = ReflectionTestUtils.getField(entry, "action");
            return action != null && action.getClass().getName().startsWith(owner.getName() + "$$Lambda");
        });
    }

    public static int threads(TaskTimer timer) {
        return timer.thread.get() == null ? 0 : 1;
    }

    /** How long it is until the first of them is due. */
    public static Duration untilFirst(TaskTimer timer) {
        return Duration.ofNanos(timer.entries.first().at - System.nanoTime());
    }

    public static TaskTimer withThreads(ThreadFactory threads) {
        return new TaskTimer(threads);
    }

    /** A timer whose thread cannot be started. */
    public static TaskTimer withoutThread() {
        return new TaskTimer(action -> {
            throw new OutOfMemoryError("unable to create native thread");
        });
    }

    /** The timer has one thread: what was due earlier has run when this returns. */
    public static void await(TaskTimer timer, Duration time) throws Exception {
        Future<?> last = timer.schedule(() -> {}, time.toNanos());
        last.get(1, TimeUnit.MINUTES);
        while (timer.entries.contains(last)) { // it leaves when it has run
            Thread.onSpinWait();
        }
    }
}
