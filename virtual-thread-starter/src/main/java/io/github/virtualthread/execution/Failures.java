package io.github.virtualthread.execution;

import java.lang.reflect.UndeclaredThrowableException;

/** What is done with the failures of bodies, whatever they are. */
final class Failures {

    private Failures() {}

    /** An exception that is thrown once more, or by a handler that has been told of it, cannot suppress itself. */
    @SuppressWarnings("ReferenceEquality") // the very exception
    static void suppress(Throwable failure, Throwable second) {
        if (second != failure) {
            failure.addSuppressed(second);
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
