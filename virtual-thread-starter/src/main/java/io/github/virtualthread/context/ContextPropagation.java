package io.github.virtualthread.context;

import io.github.virtualthread.Internal;
import io.github.virtualthread.context.CapturedContext.Scope;
import java.util.List;
import java.util.Map;
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
@Internal
public final class ContextPropagation {

    /** Key of the deadline among the registered thread-locals. It is not captured here: not every task inherits it. */
    public static final String DEADLINE_KEY = "io.github.virtualthread.deadline";

    private static final Logger logger = LoggerFactory.getLogger(ContextPropagation.class);

    /**
     * One for each kind of context, in the order in which they are opened: MDC first, so that the trace ids of a later scope win.
     * An array, because each call would need an iterator of a list.
     */
    private final Capture[] captures;

    ContextPropagation(Stream<Capture> captures) {
        this.captures = captures.toArray(Capture[]::new);
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
        return new ContextPropagation(Stream.of());
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

    ContextPropagation with(Capture capture) {
        return new ContextPropagation(Stream.concat(Stream.of(captures), Stream.of(capture)));
    }

    /**
     * Captures the context of the current thread.
     *
     * @return what was captured, for the thread of the task
     */
    public CapturedContext capture() {
        CapturedContext captured = CapturedContext.EMPTY;
        for (Capture capture : captures) {
            captured = join(captured, captured(capture));
        }
        return captured;
    }

    private static CapturedContext captured(Capture capture) {
        try {
            return capture.get();
        } catch (Throwable failure) {
            warn("The context of the caller could not be captured; the task runs without it", failure);
            return CapturedContext.EMPTY;
        }
    }

    @SuppressWarnings("ReferenceEquality") // EMPTY stands for itself
    private static CapturedContext join(CapturedContext first, CapturedContext second) {
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
        return open(captured, "The context of the caller could not be set; the task runs without it");
    }

    private static Scope open(CapturedContext captured, String ifItFails) {
        try {
            return captured.open();
        } catch (Throwable failure) {
            warn(ifItFails, failure);
            return Scope.NOTHING;
        }
    }

    /**
     * Sets what was captured on a thread that may have a context of its own, which is hidden meanwhile. What the caller lacked is
     * absent.
     *
     * @param captured what was captured
     * @return scope for {@link #close}, which puts back what the thread had
     */
    public Scope replace(CapturedContext captured) {
        return join(hide(), open(captured));
    }

    /** Takes away all context of the current thread. Returns the scope that puts it back. */
    Scope hide() {
        Scope hidden = Scope.NOTHING;
        for (Capture capture : captures) {
            hidden = join(
                    hidden, open(capture::hide, "The context of the thread could not be hidden; the task sees it"));
        }
        return hidden;
    }

    private static Scope join(Scope outer, Scope inner) {
        return () -> {
            close(inner);
            close(outer);
        };
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
            warn("The context of the thread could not be restored after the task", failure);
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
            return join(ContextPropagation.open(first), ContextPropagation.open(second));
        }

        /** The MDC is captured first. */
        @Override
        public Map<String, String> mdc() {
            return first.mdc();
        }
    }
}
