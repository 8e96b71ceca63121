package io.github.virtualthread.execution;

import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.execution.InterruptibleCall.Shields;
import io.github.virtualthread.execution.StoppableBody.Entered;
import io.github.virtualthread.execution.StoppableBody.Shield;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A body on the thread of an actor, with the window in which it may be interrupted, and a part of it that may be shielded. */
final class StressedBody implements Shield {

    private static final int SPINS = 100;
    private static final StressedEngine ENGINE = new StressedEngine();
    private static final TaskSpec SPEC = ENGINE.engine.spec("Stress.task", null);

    final Task task = new Task(SPEC, () -> null, null);
    private final AtomicInteger told = new AtomicInteger();
    private volatile boolean goesOn;

    @Override
    public void stopped(StoppableBody body) {
        told.incrementAndGet();
        StressedEngine.spin(SPINS);
    }

    @Override
    public boolean goesOn(StackTraceElement[] stack) {
        return goesOn;
    }

    @Override
    public @Nullable String statement() {
        return null;
    }

    /** How often the shield has heard of a stop. */
    int told() {
        return told.get();
    }

    /** The body begins on the current thread. */
    void open() {
        Thread.interrupted();
        task.thread = Thread.currentThread();
        task.openWindow();
    }

    Entered shield() {
        return task.shield(this);
    }

    /** Another thread stops the body; returns whether there was anything to stop. */
    boolean stop() {
        StressedEngine.spin(SPINS);
        return task.interrupt(Cause.CANCELLED);
    }

    /** Returns whether that has set the flag of the thread, or a stop right after it; leaves the flag as it was. */
    boolean unshield() {
        StressedEngine.spin(SPINS);
        goesOn = false;
        boolean before = Thread.interrupted();
        task.unshield(false);
        boolean owed = Thread.interrupted();
        if (before) {
            Thread.currentThread().interrupt();
        }
        return owed;
    }

    /** What follows the part must not be interrupted either. */
    void unshieldAndGoOn() {
        StressedEngine.spin(SPINS);
        goesOn = true;
        task.unshield(false);
    }

    boolean force() {
        StressedEngine.spin(SPINS);
        return task.force();
    }

    /** Ends the body; returns whether anything of it is left: the flag of the thread, or its shield. */
    boolean leaves() {
        task.closeWindow();
        return Thread.currentThread().isInterrupted() || Shields.of(task) != null;
    }
}
