package io.github.virtualthread.interceptor;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringValueResolver;

/**
 * Hands calls of annotated methods to the engine and returns at once.
 *
 * <p>The rest of the chain, advice of others included, runs on the virtual thread. What it throws is the method's own:
 * a class proxy of Spring 6.2 or later wraps undeclared exceptions only on the way to its caller, outside of the
 * advice.
 */
final class VirtualThreadInterceptor implements MethodInterceptor {

    private final AnnotatedMethods methods;
    private final StringValueResolver placeholders;
    private final Supplier<Interception> lookup;
    private final Map<Class<?>, Map<Method, MethodCall>> calls = new ConcurrentHashMap<>();
    private volatile @Nullable Interception interception;

    /**
     * An interceptor that has looked nothing up yet.
     *
     * @param methods annotated methods
     * @param placeholders resolver of what the annotations say
     * @param lookup asked at the first call
     */
    VirtualThreadInterceptor(
            AnnotatedMethods methods, StringValueResolver placeholders, Supplier<Interception> lookup) {
        this.methods = methods;
        this.placeholders = placeholders;
        this.lookup = lookup;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) {
        Interception engine = interception();
        MethodCall call = call(invocation, engine);
        if (call.returnsNothing()) {
            engine.engine().execute(call.spec(), invocation::proceed, failure -> engine.uncaughtExceptionHandler()
                    .handleUncaughtException(failure, call.method(), invocation.getArguments()));
            return null;
        }
        return engine.engine().submit(call.spec(), invocation::proceed);
    }

    private Interception interception() {
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
        AnnotatedMethod annotated = methods.find(method, targetClass);
        if (annotated == null) {
            // the target is of another class than its target source says
            annotated = methods.find(method, method.getDeclaringClass());
        }
        if (annotated == null) {
            throw new IllegalStateException("%s.%s is advised, but no %s applies to it on an object of %s"
                    .formatted(
                            method.getDeclaringClass().getName(),
                            method.getName(),
                            methods.annotation(),
                            targetClass.getName()));
        }
        CallSettings settings = CallSettings.of(annotated, placeholders, engine.settings());
        return new MethodCall(
                annotated.method(),
                annotated.returnsNothing(),
                engine.engine().spec(settings.name(), settings.limit(), settings.timeout()));
    }
}
