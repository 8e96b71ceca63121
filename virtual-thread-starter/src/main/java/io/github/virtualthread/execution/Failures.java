package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import java.lang.Thread.UncaughtExceptionHandler;
import java.lang.reflect.UndeclaredThrowableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** Reports the failures of bodies. */
final class Failures {

    private static final Logger logger = LoggerFactory.getLogger(Failures.class);

    /** Maximum number of suppressed exceptions, so that an object that is thrown again and again does not grow forever. */
    static final int MOST_SUPPRESSED = 32;

    private Failures() {}

    /** What was to handle the failure of a call has thrown. */
    static void ofHandler(TaskSpec spec, Throwable failure, Throwable thrown) {
        suppress(thrown, failure);
        SafeLog.write(logger, Level.ERROR, "The handler of a failure of {} failed itself", spec.name(), null, thrown);
    }

    /** The future of the call was completed by somebody else before, so the failure goes to the log only. */
    static void late(TaskSpec spec, Throwable failure) {
        SafeLog.write(logger, Level.DEBUG, "{} failed after its future had been completed", spec.name(), null, failure);
    }

    /** An unexpected failure on one of our threads goes where it would go on any other thread. */
    static void uncaught(TaskSpec spec, Thread thread, Throwable failure) {
        UncaughtExceptionHandler ofApplication = Thread.getDefaultUncaughtExceptionHandler();
        if (ofApplication == null) {
            SafeLog.write(
                    logger,
                    Level.ERROR,
                    "{} failed on thread {}, outside its body",
                    spec.name(),
                    thread.getName(),
                    failure);
        } else {
            ofApplication.uncaughtException(thread, failure);
        }
    }

    /** An exception that is thrown again, perhaps by its own handler, cannot suppress itself. */
    @SuppressWarnings("ReferenceEquality") // the very exception
    static void suppress(Throwable failure, Throwable second) {
        try {
            if (second != failure && failure.getSuppressed().length < MOST_SUPPRESSED) {
                failure.addSuppressed(second);
            }
        } catch (OutOfMemoryError shortage) {
            // the first failure is enough
        }
    }

    /** Returns an exception to throw; an error is thrown here. */
    static Exception asException(Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        return failure instanceof Exception exception ? exception : new UndeclaredThrowableException(failure);
    }
}
