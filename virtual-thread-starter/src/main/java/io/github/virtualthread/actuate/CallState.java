package io.github.virtualthread.actuate;

import io.github.virtualthread.execution.LiveCall;
import java.util.ArrayList;
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
 * @param stack where the body is, the innermost frame first: 20 frames at most, and a line that counts them for those left out
 *     in between; null while the call waits
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
    private static final int INNERMOST = 8;

    private static final List<String> ENGINE = List.of(
            "io.github.virtualthread.execution.", "io.github.virtualthread.aop.", "io.github.virtualthread.aspectj.");
    private static final List<String> PROXIES = List.of(
            "org.springframework.aop.",
            "org.springframework.cglib.",
            "org.springframework.transaction.",
            "org.aspectj.runtime.");

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
                thread == null ? null : shown(thread.getStackTrace()));
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

    /**
     * The stack down to the body. Where it is deep, drivers and frameworks fill it, and the application is far from its top:
     * then the innermost frames, and from the body upwards those that are not {@link #isAround around} the bodies.
     */
    static List<String> shown(StackTraceElement[] stack) {
        int end = endOfBody(stack);
        int innermost = end <= FRAMES ? end : INNERMOST;
        int first = end;
        for (int left = FRAMES - innermost; first > innermost && left > 0; first--) {
            left -= isAround(stack[first - 1]) ? 0 : 1;
        }
        List<String> shown = new ArrayList<>();
        int leftOut = 0;
        for (int i = 0; i < end; i++) {
            if (i >= innermost && (i < first || isAround(stack[i]))) {
                leftOut++;
                continue;
            }
            if (leftOut > 0) {
                shown.add("... %d %s ...".formatted(leftOut, leftOut == 1 ? "frame" : "frames"));
                leftOut = 0;
            }
            shown.add(stack[i].toString());
        }
        return shown;
    }

    /** Below the body are the engine, and whatever is below a caller's own thread. */
    private static int endOfBody(StackTraceElement[] stack) {
        int end = stack.length;
        for (int i = 0; i < stack.length; i++) {
            if (ENGINE.stream().anyMatch(stack[i].getClassName()::startsWith)) {
                end = i;
            }
        }
        int body = end;
        while (body > 0 && isAround(stack[body - 1])) {
            body--;
        }
        return body > 0 ? body : Math.min(end, INNERMOST);
    }

    /** Of the JDK, or of what calls a bean by its proxy. */
    private static boolean isAround(StackTraceElement frame) {
        String module = frame.getModuleName();
        String type = frame.getClassName();
        return (module != null && (module.startsWith("java.") || module.startsWith("jdk.")))
                || type.contains("$$SpringCGLIB$$")
                || ENGINE.stream().anyMatch(type::startsWith)
                || PROXIES.stream().anyMatch(type::startsWith);
    }
}
