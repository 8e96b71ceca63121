package io.github.virtualthread.context;

import io.github.virtualthread.Internal;
import java.util.Map;

/** What was captured on the caller's thread. Immutable: it can be opened on another thread at any later time. */
@Internal
@FunctionalInterface
public interface CapturedContext {

    /** The context if nothing was captured. */
    CapturedContext EMPTY = () -> Scope.NOTHING;

    /**
     * Sets what was captured on the current thread.
     *
     * @return scope that removes it again
     */
    Scope open();

    /**
     * The captured MDC of the caller.
     *
     * @return unmodifiable, empty if none was captured
     */
    default Map<String, String> mdc() {
        return Map.of();
    }

    /** Removes what was set. Must be closed on the thread that opened it. */
    @FunctionalInterface
    interface Scope extends AutoCloseable {

        /** The scope if nothing was set. */
        Scope NOTHING = () -> {};

        /** Removes what was set. */
        @Override
        void close();
    }
}
