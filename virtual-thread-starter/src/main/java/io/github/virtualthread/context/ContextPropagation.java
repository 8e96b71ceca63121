package io.github.virtualthread.context;

import io.github.virtualthread.context.CapturedContext.Scope;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.util.ClassUtils;

/**
 * Carries the context of a caller to the thread of its task.
 *
 * <p>A part that fails is logged and left out: capture, opening and closing never throw.
 */
public final class ContextPropagation {

    /** Key of the deadline among the registered thread-locals. It is not captured here: not every task inherits it. */
    public static final String DEADLINE_KEY = "io.github.virtualthread.deadline";

    private static final Logger logger = LoggerFactory.getLogger(ContextPropagation.class);

    /**
     * Each captures one kind of context of the caller, {@link CapturedContext#EMPTY} if the caller has none. In the order in which
     * they are opened: MDC first, so that the trace ids of a later scope win.
     */
    private final List<Supplier<CapturedContext>> captures;

    ContextPropagation(List<Supplier<CapturedContext>> captures) {
        this.captures = List.copyOf(captures);
    }

    /**
     * Whether Micrometer's context-propagation is on the classpath, for {@link #withRegisteredContext()}.
     *
     * @param classLoader class loader of the application
     * @return whether thread-locals can be registered
     */
    public static boolean isContextRegistryPresent(@Nullable ClassLoader classLoader) {
        return ClassUtils.isPresent("io.micrometer.context.ContextSnapshotFactory", classLoader);
    }

    /**
     * Whether Spring Security is on the classpath, for {@link #withSecurity()}.
     *
     * @param classLoader class loader of the application
     * @return whether an authentication can be captured
     */
    public static boolean isSecurityPresent(@Nullable ClassLoader classLoader) {
        return ClassUtils.isPresent("org.springframework.security.core.context.SecurityContextHolder", classLoader);
    }

    /**
     * Returns a propagation that carries nothing.
     *
     * @return empty propagation
     */
    public static ContextPropagation none() {
        return new ContextPropagation(List.of());
    }

    /**
     * Also carries all of the MDC.
     *
     * @return extended copy
     */
    public ContextPropagation withMdc() {
        return with(new MdcCapture());
    }

    /**
     * Also carries these keys of the MDC.
     *
     * @param keys names of the keys
     * @return extended copy
     */
    public ContextPropagation withMdc(List<String> keys) {
        return with(new MdcCapture(keys));
    }

    /**
     * Also carries every thread-local registered with Micrometer's context-propagation, which must be on the classpath. Spring
     * Security registers one too: that is left to {@link #withSecurity()}, because it would share one context with the caller.
     *
     * @return extended copy
     */
    public ContextPropagation withRegisteredContext() {
        return with(new RegisteredCapture());
    }

    /**
     * Also carries Spring Security's authentication, in a security context of its own for each task. Spring Security must be
     * on the classpath.
     *
     * @return extended copy
     */
    public ContextPropagation withSecurity() {
        return with(new SecurityCapture());
    }

    ContextPropagation with(Supplier<CapturedContext> capture) {
        return new ContextPropagation(
                Stream.concat(captures.stream(), Stream.of(capture)).toList());
    }

    /**
     * Captures the context of the current thread.
     *
     * @return what was captured, for the thread of the task
     */
    public CapturedContext capture() {
        CapturedContext captured = CapturedContext.EMPTY;
        for (Supplier<CapturedContext> capture : captures) {
            captured = join(captured, captured(capture));
        }
        return captured;
    }

    private static CapturedContext captured(Supplier<CapturedContext> capture) {
        try {
            return capture.get();
        } catch (Throwable failure) {
            warn("The context of the caller could not be captured; the task runs without it", failure);
            return CapturedContext.EMPTY;
        }
    }

    @SuppressWarnings("ReferenceEquality") // EMPTY stands for itself
    static CapturedContext join(CapturedContext first, CapturedContext second) {
        if (first == CapturedContext.EMPTY) {
            return second;
        }
        return second == CapturedContext.EMPTY ? first : new Joined(first, second);
    }

    /**
     * Sets what was captured on the current thread.
     *
     * @param captured what was captured
     * @return scope for {@link #close}
     */
    public static Scope open(CapturedContext captured) {
        try {
            return captured.open();
        } catch (Throwable failure) {
            warn("The context of the caller could not be set; the task runs without it", failure);
            return Scope.NOTHING;
        }
    }

    /**
     * Removes what was set. Must be called on the thread that opened the scope.
     *
     * @param scope scope to close
     */
    public static void close(Scope scope) {
        try {
            scope.close();
        } catch (Throwable failure) {
            warn("The context of the caller could not be removed after the task", failure);
        }
    }

    /**
     * Runs an action with the captured context.
     *
     * @param captured what was captured
     * @param action runs on the current thread
     */
    public static void run(CapturedContext captured, Runnable action) {
        Scope scope = open(captured);
        try {
            action.run();
        } finally {
            close(scope);
        }
    }

    private static void warn(String message, Throwable failure) {
        SafeLog.write(logger, Level.WARN, message, null, null, failure);
    }

    /** Two kinds of context. If one fails, the other is still set. */
    private record Joined(CapturedContext first, CapturedContext second) implements CapturedContext {

        @Override
        public Scope open() {
            Scope outer = ContextPropagation.open(first);
            Scope inner = ContextPropagation.open(second);
            return () -> {
                ContextPropagation.close(inner);
                ContextPropagation.close(outer);
            };
        }

        /** The MDC is captured first. */
        @Override
        public Map<String, String> mdc() {
            return first.mdc();
        }
    }
}
