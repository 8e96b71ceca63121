package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import java.lang.Thread.UncaughtExceptionHandler;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** What is done with the failures of bodies, whatever they are. */
final class Failures {

    private static final Logger logger = LoggerFactory.getLogger(Failures.class);

    /** Most suppressed exceptions of a failure that gets one more: an object that is thrown forever does not grow forever. */
    static final int MOST = 32;

    private Failures() {}

    /** Tells of a failure that nobody waits for. */
    static void tell(Consumer<Throwable> handler, TaskSpec spec, Throwable failure) {
        try {
            handler.accept(failure);
        } catch (Throwable thrown) {
            suppress(thrown, failure);
            SafeLog.write(
                    logger, Level.ERROR, "Handler of a failure of {} has failed itself", spec.name(), null, thrown);
        }
    }

    /** The future of the call was completed by somebody else before: nobody is told. */
    static void late(TaskSpec spec, Throwable failure) {
        SafeLog.write(logger, Level.DEBUG, "{} failed after its future had been completed", spec.name(), null, failure);
    }

    /** What a thread of ours gets that it does not expect goes where it would go on any other thread. */
    static void uncaught(TaskSpec spec, Thread thread, Throwable failure) {
        UncaughtExceptionHandler ofApplication = Thread.getDefaultUncaughtExceptionHandler();
        if (ofApplication == null) {
            SafeLog.write(
                    logger,
                    Level.ERROR,
                    "{} has failed on {} outside of its body",
                    spec.name(),
                    thread.getName(),
                    failure);
        } else {
            ofApplication.uncaughtException(thread, failure);
        }
    }

    /** An exception that is thrown once more, or by a handler that has been told of it, cannot suppress itself. */
    @SuppressWarnings({"ReferenceEquality", "EmptyCatch"}) // the very exception
    static void suppress(Throwable failure, Throwable second) {
        try {
            if (second != failure && failure.getSuppressed().length < MOST) {
                failure.addSuppressed(second);
            }
        } catch (OutOfMemoryError noRoom) {
            // the first one says enough
        }
    }

    /** To be thrown: an error is thrown here. */
    static Exception asException(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof Exception exception ? exception : new UndeclaredThrowableException(failure);
    }
}
