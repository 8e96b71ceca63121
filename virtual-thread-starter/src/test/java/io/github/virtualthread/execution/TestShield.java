package io.github.virtualthread.execution;

import io.github.virtualthread.execution.StoppableBody.Entered;
import io.github.virtualthread.execution.StoppableBody.Shield;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A part of a body that does what a test wants, and counts how often it hears of a stop. */
class TestShield implements Shield {

    final AtomicInteger told = new AtomicInteger();
    final CountDownLatch heard = new CountDownLatch(1);
    final CountDownLatch heardTwiceMore = new CountDownLatch(2);
    final CountDownLatch asked = new CountDownLatch(2);
    volatile boolean goesOn;
    volatile @Nullable String sql;

    /**
     * What a body saw that was stopped while it was shielded.
     *
     * @param interrupted the flag at the end of the shield
     * @param owed whether an interrupt is owed to the thread
     * @param left whether the engine still knows of the shield afterwards
     */
    record Seen(Entered entered, boolean interrupted, boolean owed, boolean left, Entered again) {

        static final Seen ONCE = new Seen(Entered.RUNNING, false, true, false, Entered.STOPPED);
    }

    @Override
    public void stopped(StoppableBody body) {
        told.incrementAndGet();
        heard.countDown();
    }

    @Override
    public @Nullable String statement() {
        return sql;
    }

    @Override
    public boolean stoppedAgain(StoppableBody body) {
        heardTwiceMore.countDown();
        return false;
    }

    @Override
    public boolean goesOn(StackTraceElement[] stack) {
        asked.countDown();
        return goesOn;
    }

    /** The body on the current thread. */
    static StoppableBody body() {
        return Objects.requireNonNull(Calls.currentBody());
    }

    /** Ends what is shielded on the current thread. Returns whether that has set its flag, and leaves the flag as it was. */
    static boolean unshield(StoppableBody body) {
        boolean before = Thread.interrupted();
        body.unshield(false);
        boolean owed = Thread.interrupted();
        if (before) {
            Thread.currentThread().interrupt();
        }
        return owed;
    }

    static boolean isKnown(StoppableBody body) {
        return InterruptibleCall.Shields.of((InterruptibleCall) body) != null;
    }

    /** Is shielded until it hears of a stop; at once, if that came before. */
    Seen untilHeard(CountDownLatch entered) {
        StoppableBody body = body();
        Entered first = body.shield(this);
        entered.countDown();
        if (first == Entered.RUNNING) {
            TestEngine.awaitStubbornly(heard);
        }
        boolean interrupted = Thread.currentThread().isInterrupted();
        boolean owed = unshield(body);
        boolean left = isKnown(body);
        Entered again = body.shield(this);
        body.unshield(false);
        return new Seen(first, interrupted, owed, left, again);
    }
}
