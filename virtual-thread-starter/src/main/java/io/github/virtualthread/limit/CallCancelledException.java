package io.github.virtualthread.limit;

import io.github.virtualthread.Internal;
import java.util.concurrent.CancellationException;

/** A call was cancelled: by its future, by an operator, or because the application stopped. A type of its own only for its answer. */
@Internal
public final class CallCancelledException extends CancellationException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates a failure of a cancelled call.
     *
     * @param message which call was cancelled, and why
     */
    public CallCancelledException(String message) {
        super(message);
    }
}
