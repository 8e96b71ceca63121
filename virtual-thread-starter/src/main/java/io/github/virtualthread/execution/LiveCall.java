package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.context.CapturedContext;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A call that waited or ran at one moment.
 *
 * @param call the call
 * @param thread thread of the body; null while the call waits, and for a web request that goes on without a thread
 * @param abandoned whether the body still runs although its future is complete, because of a cancel, a timeout or somebody else
 * @param context captured context of the caller; empty for a call on its caller's own thread
 */
@Internal
public record LiveCall(TaskCall call, @Nullable Thread thread, boolean abandoned, CapturedContext context) {

    /**
     * The captured MDC of the caller. Not a component, because it is a copy: most of those who look at all calls do not show it.
     *
     * @return unmodifiable, empty for a call on its caller's own thread
     */
    public Map<String, String> mdc() {
        return context.mdc();
    }
}
