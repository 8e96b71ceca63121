package io.github.virtualthread.actuate;

import io.github.virtualthread.execution.LiveCall;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One call that waits or runs.
 *
 * @param id number of the call, by which it can be cancelled
 * @param method name of its task
 * @param state {@code running} or {@code waiting}
 * @param abandoned whether the body still runs although its call has ended, by cancel or timeout
 * @param ageSeconds how long the body has run, or the call has waited
 * @param thread name of the thread of the body, null while the call waits
 * @param traceId value of {@code traceId} in the MDC of the caller, null where there is none
 * @param mdc what the MDC of the caller has under the chosen keys; empty for a call on its caller's own thread
 * @param stack where the body is, the innermost frames first, 20 at most; null while the call waits
 */
public record CallState(
        long id,
        String method,
        String state,
        boolean abandoned,
        double ageSeconds,
        @Nullable String thread,
        @Nullable String traceId,
        Map<String, String> mdc,
        @Nullable List<String> stack) {

    private static final String TRACE_ID = "traceId";
    private static final int FRAMES = 20;

    static CallState of(LiveCall live, Collection<String> mdcKeys) {
        Thread thread = live.thread();
        return new CallState(
                live.call().id(),
                live.call().spec().name(),
                live.isRunning() ? "running" : "waiting",
                live.abandoned(),
                Seconds.of(live.isRunning() ? live.call().ran() : live.call().waited()),
                thread == null ? null : thread.getName(),
                live.mdc().get(TRACE_ID),
                chosen(live.mdc(), mdcKeys),
                thread == null ? null : stack(thread));
    }

    private static Map<String, String> chosen(Map<String, String> mdc, Collection<String> keys) {
        Map<String, String> chosen = new LinkedHashMap<>();
        for (String key : keys) {
            String value = mdc.get(key);
            if (value != null) {
                chosen.put(key, value);
            }
        }
        return chosen;
    }

    private static List<String> stack(Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .limit(FRAMES)
                .map(StackTraceElement::toString)
                .toList();
    }
}
