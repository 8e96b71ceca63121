package io.github.virtualthread.context;

import io.github.virtualthread.context.CapturedContext.Scope;

/** One kind of context of the current thread. */
interface Capture {

    /** Captures what the thread has of it: {@link CapturedContext#EMPTY} if it has nothing. */
    CapturedContext get();

    /**
     * Takes away all that the thread has of it.
     *
     * @return scope that puts back what was found
     */
    Scope hide();
}
