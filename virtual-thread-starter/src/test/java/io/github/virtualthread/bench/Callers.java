package io.github.virtualthread.bench;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadFactory;

/**
 * Threads that make calls for a while, each its next one as soon as it has the result of the last. Reading the clock adds some 25 ns
 * to each call, the same for all contenders.
 *
 * @param calls how many were made
 * @param nanos time that they took, summed over the callers
 * @param longest the longest of them, in nanoseconds
 * @param bytes allocated by all threads of this JVM meanwhile
 */
record Callers(long calls, long nanos, long longest, long bytes) {

    /**
     * Starts them and waits for their end.
     *
     * @param threads {@code platform} or {@code virtual}
     */
    static Callers call(int callers, String threads, Duration time, Callable<?> call) throws Exception {
        ThreadFactory factory = threads.equals("virtual")
                ? Thread.ofVirtual().factory()
                : Thread.ofPlatform().factory();
        List<FutureTask<Callers>> all = new ArrayList<>();
        long bytes = allocated();
        long end = System.nanoTime() + time.toNanos();
        for (int i = 0; i < callers; i++) {
            FutureTask<Callers> caller = new FutureTask<>(() -> callUntil(end, call));
            all.add(caller);
            factory.newThread(caller).start();
        }
        Callers sum = new Callers(0, 0, 0, 0);
        for (FutureTask<Callers> caller : all) {
            sum = sum.and(caller.get());
        }
        return sum.and(new Callers(0, 0, 0, allocated() - bytes));
    }

    private static Callers callUntil(long end, Callable<?> call) throws Exception {
        long start = System.nanoTime();
        long last = start;
        long calls = 0;
        long longest = 0;
        do {
            call.call();
            long now = System.nanoTime();
            longest = Math.max(longest, now - last);
            last = now;
            calls++;
        } while (last - end < 0);
        return new Callers(calls, last - start, longest, 0);
    }

    private Callers and(Callers other) {
        return new Callers(
                calls + other.calls, nanos + other.nanos, Math.max(longest, other.longest), bytes + other.bytes);
    }

    private static long allocated() {
        return ((ThreadMXBean) ManagementFactory.getThreadMXBean()).getTotalThreadAllocatedBytes();
    }

    /** Mean of the time from a call to its result, as its caller sees it. */
    double nanosPerCall() {
        return (double) nanos / calls;
    }

    double bytesPerCall() {
        return (double) bytes / calls;
    }
}
