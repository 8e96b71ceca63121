package io.github.virtualthread.aop;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskSpec;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.lang.reflect.Method;
import java.util.List;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.function.SingletonSupplier;

/** What one application context does with calls of woven code. Once closed, it refers to nothing of the context. */
final class WovenContext {

    /** Rejects calls once a context is closed: its own engine would be kept alive. */
    private static final SingletonSupplier<CallEnvironment> CLOSED = SingletonSupplier.of(WovenContext::closedEngine);

    private final boolean inPlace;
    private volatile MethodInterceptor calls;
    private volatile @Nullable TaskEngine engine;
    private volatile boolean closed;

    /**
     * Creates what belongs to one context.
     *
     * @param interceptor runs its woven methods by its engine; null if it uses proxies, or does not intercept at all
     */
    WovenContext(@Nullable VirtualThreadInterceptor interceptor) {
        this.inPlace = interceptor == null;
        this.calls = interceptor == null ? MethodInvocation::proceed : interceptor;
    }

    @Nullable
    Object invoke(MethodInvocation call) throws Throwable {
        return calls.invoke(call);
    }

    /** Sets the engine, which is known when the singletons are ready. */
    void by(TaskEngine engine) {
        this.engine = engine;
    }

    boolean sharesEngine(WovenContext other) {
        return engine != null && engine == other.engine;
    }

    /**
     * Closes it. Calls on beans that live on are rejected, or run by the parent if its engine was used.
     *
     * @param parent that context, null for none
     */
    void close(@Nullable WovenContext parent) {
        if (!inPlace) {
            calls = parent == null ? WovenContext::reject : parent::invoke;
        }
        engine = null;
        closed = true;
    }

    /**
     * The annotated method that a call runs. Null if it is to run as if it were not annotated: no annotation applies to it;
     * it could not do what the annotation asks for; or a method that overrides it is woven and calls it by {@code super}, on
     * the thread on which that runs already.
     */
    static @Nullable AnnotatedMethod resolve(AnnotatedMethods methods, Method method, Class<?> targetClass) {
        if (method.isSynthetic()) {
            return null; // a bridge: it calls the method proper
        }
        AnnotatedMethod found = methods.find(method, targetClass);
        if (found != null && !found.method().equals(method)) {
            found = AspectJRuntime.isWoven(found.method()) ? null : methods.find(method, method.getDeclaringClass());
        }
        return found != null && found.isAdvisable() ? found : null;
    }

    /**
     * As {@link #resolve(AnnotatedMethods, Method, Class)}, without a context. What it finds is not kept: it would keep classes of
     * closed applications alive.
     */
    static @Nullable AnnotatedMethod resolve(MethodInvocation call) {
        Method method = call.getMethod();
        Object target = call.getThis();
        Class<?> targetClass = target == null ? method.getDeclaringClass() : target.getClass();
        return resolve(new AnnotatedMethods(VirtualThread.class), method, targetClass);
    }

    boolean isClosed() {
        return closed;
    }

    private static CallEnvironment closedEngine() {
        TaskTimer timer = new TaskTimer("vt-closed-timer");
        TaskLimits none = new TaskLimits(List.of(), timer, change -> {});
        ClassLoader classLoader = WovenContext.class.getClassLoader();
        TaskEngine engine = new TaskEngine(
                none,
                ContextPropagation.none(),
                timer,
                new TaskThreads("vt-", classLoader),
                CallExtensions.NONE,
                false);
        engine.close();
        return new CallEnvironment(engine, MethodSettings.NONE, ApplicationUncaughtExceptionHandler.LOGGING);
    }

    private static @Nullable Object reject(MethodInvocation call) throws Throwable {
        AnnotatedMethod annotated = resolve(call);
        if (annotated == null) {
            return call.proceed();
        }
        CallEnvironment closed = CLOSED.obtain();
        TaskSpec spec = closed.engine().spec(annotated.defaultName(), null);
        return new VirtualThreadInterceptor.Calls(annotated, call.getMethod(), closed, spec, null).invoke(call);
    }
}
