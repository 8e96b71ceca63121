package io.github.virtualthread.aop;

import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.TaskSpec;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.StringValueResolver;

/**
 * Hands calls of annotated methods to the engine, and returns at once; calls of methods with {@code @Limited} wait for their
 * permit and run on the current thread.
 *
 * <p>The rest of the chain, advice of others included, runs on the virtual thread, or under the permit. What it throws is the
 * method's own: a class proxy of Spring 6.2 or later wraps undeclared exceptions only on the way to its caller, outside of
 * the advice.
 */
final class VirtualThreadInterceptor implements MethodInterceptor {

    private final Resolution resolution;
    private final StringValueResolver placeholders;
    private final Supplier<Interception> lookup;
    private final Map<Class<?>, Map<Method, MethodCall>> calls = new ConcurrentHashMap<>();
    private volatile @Nullable Interception interception;

    /**
     * An interceptor that has looked nothing up yet.
     *
     * @param resolution which annotated method a call runs
     * @param placeholders resolver of what the annotations say
     * @param lookup asked at the first call
     */
    VirtualThreadInterceptor(Resolution resolution, StringValueResolver placeholders, Supplier<Interception> lookup) {
        this.resolution = resolution;
        this.placeholders = placeholders;
        this.lookup = lookup;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Interception engine = interception();
        return call(invocation, engine).invoke(invocation);
    }

    /** What calls need, looked up once. */
    Interception interception() {
        Interception found = interception;
        if (found == null) {
            found = lookup.get();
            interception = found;
        }
        return found;
    }

    private MethodCall call(MethodInvocation invocation, Interception engine) {
        Method method = invocation.getMethod();
        Object target = invocation.getThis();
        Class<?> targetClass = target == null ? method.getDeclaringClass() : target.getClass();
        Map<Method, MethodCall> ofClass = calls.get(targetClass);
        MethodCall known = ofClass == null ? null : ofClass.get(method);
        if (known == null) {
            known = create(method, targetClass, engine);
            calls.computeIfAbsent(targetClass, type -> new ConcurrentHashMap<>())
                    .put(method, known);
        }
        return known;
    }

    private MethodCall create(Method method, Class<?> targetClass, Interception engine) {
        AnnotatedMethod annotated = resolution.resolve(method, targetClass);
        if (annotated == null) {
            return MethodCall.IN_PLACE;
        }
        CallSettings settings = CallSettings.of(annotated, placeholders, engine.settings());
        TaskSpec spec = engine.engine().spec(settings.name(), settings.limit(), settings.timeout());
        return call(annotated, method, engine, spec);
    }

    /**
     * How calls of a method are run.
     *
     * @param annotated the method that runs
     * @param called the method as its callers see it
     * @param spec name, limit and timeout
     */
    static MethodCall call(AnnotatedMethod annotated, Method called, Interception engine, TaskSpec spec) {
        if (annotated.isLimited()) {
            return LimitedCall.of(called, engine.engine(), spec);
        }
        Method running = annotated.method();
        return annotated.returnsNothing()
                ? invocation -> execute(engine, running, spec, invocation)
                : invocation -> submit(engine, spec, invocation);
    }

    private static @Nullable Object submit(Interception engine, TaskSpec spec, MethodInvocation invocation) {
        return engine.engine().submit(spec, () -> future(invocation));
    }

    private static @Nullable Object future(MethodInvocation invocation) throws Throwable {
        Object future = invocation.proceed();
        if (future == null) {
            SafeLog.write(() -> NullFutures.log(invocation));
        }
        return future;
    }

    private static @Nullable Object execute(
            Interception engine, Method method, TaskSpec spec, MethodInvocation invocation) {
        engine.engine().execute(spec, invocation::proceed, failure -> engine.uncaughtExceptionHandler()
                .handleUncaughtException(failure, method, invocation.getArguments()));
        return null;
    }

    /** Methods that have returned null instead of a future. */
    private static final class NullFutures {

        private static final Logger logger = LoggerFactory.getLogger(VirtualThreadInterceptor.class);

        /** Kept with the class of the method, and gone with it. */
        private static final ClassValue<Set<Method>> logged = new ClassValue<>() {
            @Override
            protected Set<Method> computeValue(Class<?> type) {
                return ConcurrentHashMap.newKeySet();
            }
        };

        static void log(MethodInvocation invocation) {
            Method method = invocation.getMethod();
            if (logged.get(method.getDeclaringClass()).add(method)) {
                logger.warn(
                        "{}.{} returned null instead of a future; its callers get a future that is complete with null."
                                + " Return completedFuture(value), or completedFuture(null) where there is no value. Further"
                                + " calls of this method are not logged",
                        method.getDeclaringClass().getName(),
                        method.getName());
            }
        }
    }

    /** Which annotated method a call runs. */
    @FunctionalInterface
    interface Resolution {

        /** The annotated method, null for a method that is to run as if it were not annotated. */
        @Nullable
        AnnotatedMethod resolve(Method method, Class<?> targetClass);

        /** For calls that an advisor has chosen, so that an annotation must apply. */
        static Resolution ofAdvised(AnnotatedMethods methods) {
            return (method, targetClass) -> {
                AnnotatedMethod annotated = methods.find(method, targetClass);
                if (annotated == null) {
                    // the target is of another class than its target source says
                    annotated = methods.find(method, method.getDeclaringClass());
                }
                if (annotated == null) {
                    throw new IllegalStateException(
                            "%s.%s is advised, but no annotation applies to it on an object of %s"
                                    .formatted(
                                            method.getDeclaringClass().getName(),
                                            method.getName(),
                                            targetClass.getName()));
                }
                return annotated;
            };
        }
    }
}
