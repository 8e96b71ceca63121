package io.github.virtualthread.execution;

import java.lang.ref.Reference;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * A program of its own, for {@link HeapShortageTests}: threads make calls while another one fills the heap and lets it go, over
 * and over.
 */
final class HeapShortage {

    /** How often the heap is filled, however slow the machine is. */
    private static final int AT_LEAST = 10;

    private HeapShortage() {}

    public static void main(String[] arguments) {
        ChildProgram.quiet();
        ShortageCalls kind = ShortageCalls.valueOf(arguments[0]);
        long seconds = Long.parseLong(arguments[1]);
        fillForAMoment();
        TestEngine test = kind.engine();
        test.engine.start(); // as an application does: classes are initialized before they are needed
        ShortageCallers callers = new ShortageCallers(kind.callers(test));
        run(callers, seconds);
        ChildProgram.tellWhatIsLeft(test, callers);
        System.exit(0); // whatever threads hang
    }

    private static void run(ShortageCallers callers, long seconds) {
        callers.start();
        callers.awaitWarm();
        long begin = System.nanoTime();
        int full = 0;
        for (; full < AT_LEAST || System.nanoTime() - begin < TimeUnit.SECONDS.toNanos(seconds); full++) {
            fillForAMoment();
            LockSupport.parkNanos(5_000_000);
        }
        callers.end();
        ChildProgram.tell("times the heap was full", full);
    }

    private static void fillForAMoment() {
        try {
            Object all = fill();
            LockSupport.parkNanos(20_000_000);
            Reference.reachabilityFence(all);
        } catch (OutOfMemoryError full) {
            // it was
        }
    }

    /** All that is free, in pieces that get smaller. */
    private static @Nullable Object fill() {
        Object[] last = null;
        for (int size = 1 << 20; size >= 16; size /= 4) {
            try {
                while (true) {
                    last = new Object[] {last, new byte[size]};
                }
            } catch (OutOfMemoryError full) {
                // smaller ones
            }
        }
        return last;
    }
}
