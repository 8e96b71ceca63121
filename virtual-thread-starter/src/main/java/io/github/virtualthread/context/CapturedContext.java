package io.github.virtualthread.context;

import java.util.Map;

/** What was captured on the thread of the caller. Immutable: may be opened on another thread at any later time. */
@FunctionalInterface
public interface CapturedContext {

    /** Nothing was captured. */
    CapturedContext EMPTY = () -> Scope.NOTHING;

    /**
     * Sets on the current thread what was captured.
     *
     * @return takes it away again
     */
    Scope open();

    /**
     * The MDC of the caller, as far as it was captured.
     *
     * @return unmodifiable, empty where there is none
     */
    default Map<String, String> mdc() {
        return Map.of();
    }

    /** Takes away what was set. To be closed on the thread that opened it. */
    @FunctionalInterface
    interface Scope extends AutoCloseable {

        /** Nothing was set. */
        Scope NOTHING = () -> {};

        /** Takes away what was set. */
        @Override
        void close();
    }
}
