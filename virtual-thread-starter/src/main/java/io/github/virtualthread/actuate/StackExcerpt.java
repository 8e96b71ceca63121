package io.github.virtualthread.actuate;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The part of a thread's stack that shows what a body does: at most 20 frames of it. */
final class StackExcerpt {

    private static final int FRAMES = 20;
    private static final int INNERMOST = 8;

    private static final Pattern ENGINE = Pattern.compile("io\\.github\\.virtualthread\\.(execution|aop|aspectj)\\.");
    private static final Pattern JDK = Pattern.compile("(java|jdk)\\.");
    private static final Pattern PROXIES = Pattern.compile(
            "org\\.springframework\\.(aop|cglib|transaction)\\.|org\\.aspectj\\.runtime\\.|.*\\$\\$SpringCGLIB\\$\\$");

    private StackExcerpt() {}

    /**
     * The stack down to the body. In a deep stack, drivers and frameworks fill the top and the application is far below. Then
     * the innermost frames are shown, and from the body upwards the frames that are not {@link #isAround around} it.
     */
    static List<String> of(StackTraceElement[] stack) {
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

    /** Below the body are the frames of the engine and, on a caller's own thread, the frames of the caller. */
    private static int endOfBody(StackTraceElement[] stack) {
        int end = stack.length;
        for (int i = 0; i < stack.length; i++) {
            if (ENGINE.matcher(stack[i].getClassName()).lookingAt()) {
                end = i;
            }
        }
        int body = end;
        while (body > 0 && isAround(stack[body - 1])) {
            body--;
        }
        return body > 0 ? body : Math.min(end, INNERMOST);
    }

    /** Whether the frame belongs to the JDK, or to the code that calls a bean through its proxy. */
    private static boolean isAround(StackTraceElement frame) {
        String module = frame.getModuleName();
        String type = frame.getClassName();
        return (module != null && JDK.matcher(module).lookingAt())
                || ENGINE.matcher(type).lookingAt()
                || PROXIES.matcher(type).lookingAt();
    }
}
