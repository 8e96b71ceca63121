package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * A body that may be stopped: by its timeout or deadline, a cancel or the end of the application. Usually a stop interrupts it.
 * A part of it that an interrupt would break, such as a call of a database driver, can be shielded: then whoever shields it is
 * notified of the stop and ends that part in its own way. Found by {@link Calls#currentBody}.
 */
@Internal
public interface StoppableBody extends TaskCall {

    /** What became of {@link #shield}. */
    enum Entered {
        /** The body is over, or the part is within another that is shielded. Nothing is shielded. */
        NOT,
        /** From now on the shield is notified of a stop and does not interrupt. */
        RUNNING,
        /** The body was stopped before. No interrupt comes from now on. */
        STOPPED
    }

    /** A part of a body that is not interrupted. */
    interface Shield {

        /**
         * The body was stopped during this part. Called on any thread, at most once for each part. Must not block. If it throws, the
         * thread of the body is interrupted.
         *
         * @param body the body
         */
        void stopped(StoppableBody body);

        /**
         * The body was stopped before, during this part, and is stopped once more: by a second cancel, an operator or the end of the
         * application. Called on any thread. Must not block. May be called too late, during a part of another body.
         *
         * @param body the body
         * @return whether the part ends by it, and would have had more time otherwise
         */
        default boolean stoppedAgain(StoppableBody body) {
            return false;
        }

        /**
         * After the end of the part: whether code that belongs to it goes on, and must not be interrupted either. Asked if the body is
         * stopped before its next part begins. Called on any thread. Must not block.
         *
         * @param stack of the thread of the body
         * @return whether the interrupt has to wait
         */
        default boolean goesOn(StackTraceElement[] stack) {
            return false;
        }

        /**
         * What the part does, for operators.
         *
         * @return SQL of the statement that runs, null if none is known
         */
        @Nullable
        String statement();
    }

    /**
     * Shields what follows, on the thread of the body. The flag of the thread stays as it is.
     *
     * @param part is notified of a stop
     * @return whether it is shielded; then {@link #unshield} must follow
     */
    Entered shield(Shield part);

    /**
     * Ends what is shielded, on the thread of the body. Waits for a stop of which the shield is being notified. If the body was stopped
     * during this part, its thread is interrupted now, or as soon as its shield no longer {@link Shield#goesOn goes on}: that is looked
     * at each millisecond, up to the begin of the next part or the return of the body.
     *
     * @param owed whether the interrupt of an earlier stop is owed to the thread, too
     */
    void unshield(boolean owed);

    /**
     * Interrupts the thread after all, if the body has been stopped and is shielded. Waits until the shield has been notified of the
     * stop: never called by {@link Shield#stopped} itself.
     *
     * @return whether it was interrupted
     */
    boolean force();

    /**
     * Why the body was stopped.
     *
     * @return a sentence with the name of the call
     */
    String whyStopped();

    /**
     * Runs an action later, on a thread that may block.
     *
     * @param delay how long to wait
     * @param action what to run
     * @return forgets the action by {@code cancel}
     */
    Future<?> schedule(Duration delay, Runnable action);

    /**
     * Tells the listeners what became of a statement.
     *
     * @param outcome what became of it
     */
    void statementEnded(StatementOutcome outcome);
}
