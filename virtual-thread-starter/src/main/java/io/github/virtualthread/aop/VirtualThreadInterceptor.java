package io.github.virtualthread.aop;

import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.FailedCalls;
import io.github.virtualthread.execution.FailureHandler;
import io.github.virtualthread.execution.TaskBody;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskSpec;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.util.StringValueResolver;

/**
 * Passes calls of annotated methods to the engine, and returns at once; calls of methods with {@code @Limited} wait for
 * their permit and run on the current thread.
 *
 * <p>The rest of the chain, including other advice, runs on the virtual thread, or under the permit. Its exceptions are the
 * method's own: a class proxy of Spring 6.2 or later wraps undeclared exceptions only on the way to its caller, outside of
 * the advice.
 */
final class VirtualThreadInterceptor implements MethodInterceptor {

    private final Resolution resolution;
    private final StringValueResolver placeholders;
    private final Supplier<CallEnvironment> lookup;
    private final Map<Class<?>, Map<Method, MethodInterceptor>> calls = new ConcurrentHashMap<>();
    private volatile @Nullable CallEnvironment environment;

    /**
     * Creates an interceptor, which looks up the environment at the first call.
     *
     * @param resolution which annotated method a call runs
     * @param placeholders resolves placeholders in annotations
     * @param lookup asked at the first call
     */
    VirtualThreadInterceptor(
            Resolution resolution, StringValueResolver placeholders, Supplier<CallEnvironment> lookup) {
        this.resolution = resolution;
        this.placeholders = placeholders;
        this.lookup = lookup;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Method method = invocation.getMethod();
        Object target = invocation.getThis();
        Class<?> targetClass = target == null ? method.getDeclaringClass() : target.getClass();
        Map<Method, MethodInterceptor> ofClass = calls.get(targetClass);
        MethodInterceptor known = ofClass == null ? null : ofClass.get(method);
        if (known == null) {
            known = create(method, targetClass);
            calls.computeIfAbsent(targetClass, type -> new ConcurrentHashMap<>())
                    .put(method, known);
        }
        return known.invoke(invocation);
    }

    /** What calls need, looked up once. */
    CallEnvironment environment() {
        CallEnvironment found = environment;
        if (found == null) {
            found = lookup.get();
            environment = found;
        }
        return found;
    }

    private MethodInterceptor create(Method method, Class<?> targetClass) {
        CallEnvironment found = environment();
        AnnotatedMethod annotated = resolution.resolve(method, targetClass);
        if (annotated == null) {
            return MethodInvocation::proceed;
        }
        AdvisedMethod settings = new CallSettings(placeholders, found.settings()).of(annotated);
        TaskSpec spec = found.engine().spec(settings.name(), settings.limit(), settings.timeout(), settings.deadline());
        String key = settings.key();
        return new Calls(
                annotated,
                method,
                found,
                spec,
                key == null || spec.limit() == null ? null : KeyExpression.of(key, annotated));
    }

    /** Which annotated method a call runs. */
    @FunctionalInterface
    interface Resolution {

        /** The annotated method, null if the method is to run as if it were not annotated. */
        @Nullable
        AnnotatedMethod resolve(Method method, Class<?> targetClass);
    }

    /** How the calls of one method are run. */
    static final class Calls implements MethodInterceptor {

        private final CallEnvironment environment;
        private final TaskSpec spec;
        private final @Nullable KeyExpression key;
        private final Method running;
        private final boolean onCallersThread;
        private final boolean returnsNothing;
        private final boolean throwsInterruption; // as callers see the method

        /**
         * Creates what runs them, at the first of them.
         *
         * @param annotated the method that runs
         * @param called the method as its callers see it
         * @param spec name, limit, timeout and deadline
         */
        Calls(
                AnnotatedMethod annotated,
                Method called,
                CallEnvironment environment,
                TaskSpec spec,
                @Nullable KeyExpression key) {
            this.environment = environment;
            this.spec = spec;
            this.key = key;
            this.running = annotated.method();
            this.onCallersThread = annotated.isLimited();
            this.returnsNothing = annotated.returnsNothing();
            this.throwsInterruption = Arrays.stream(called.getExceptionTypes())
                    .anyMatch(declared -> declared.isAssignableFrom(InterruptedException.class));
        }

        @Override
        public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
            TaskEngine engine = environment.engine();
            TaskSpec ofCall = spec;
            if (key != null) {
                try {
                    ofCall = engine.keyed(spec, key.read(invocation.getThis(), invocation.getArguments()));
                } catch (Throwable noKey) {
                    return fail(invocation, noKey);
                }
            }
            if (onCallersThread) {
                return call(ofCall, new LimitedBody(invocation));
            }
            if (!returnsNothing) {
                return engine.submit(ofCall, new FutureBody(invocation));
            }
            VoidBody body = new VoidBody(this, invocation);
            engine.execute(ofCall, body, body);
            return null;
        }

        private @Nullable Object call(TaskSpec ofCall, LimitedBody body) throws Throwable {
            try {
                return environment.engine().call(ofCall, body);
            } catch (InterruptedException interruption) {
                if (body.started || throwsInterruption) {
                    throw interruption;
                }
                Thread.currentThread().interrupt();
                CancellationException cancelled = new CancellationException(interruption.getMessage());
                cancelled.initCause(interruption);
                throw cancelled;
            }
        }

        /** Ends a call whose body cannot run. */
        private @Nullable Object fail(MethodInvocation invocation, Throwable failure) throws Throwable {
            FailedCalls failed = new FailedCalls(environment.engine());
            if (onCallersThread) {
                failed.call(spec, failure);
                throw failure;
            }
            if (!returnsNothing) {
                return failed.submit(spec, failure);
            }
            failed.execute(spec, failure, new VoidBody(this, invocation));
            return null;
        }
    }

    /** Runs the rest of the chain. Not a lambda, which would be more frames below each body. */
    private record FutureBody(MethodInvocation invocation) implements TaskBody {

        private static final Logger logger = LoggerFactory.getLogger(VirtualThreadInterceptor.class);

        /** Methods that have returned null instead of a future. */
        private static final PerClass<Set<Method>> returnedNull = new PerClass<>(type -> ConcurrentHashMap.newKeySet());

        @Override
        public @Nullable Object run() throws Throwable {
            Object future = invocation.proceed();
            if (future == null) {
                SafeLog.write(() -> logNull(invocation.getMethod()));
            }
            return future;
        }

        private static void logNull(Method method) {
            if (returnedNull.get(method.getDeclaringClass()).add(method)) {
                logger.warn(
                        "{}.{} returned null instead of a future; its callers get a future that is completed with null."
                                + " Return completedFuture(value), or completedFuture(null) if there is no value. Further"
                                + " calls of this method are not logged",
                        method.getDeclaringClass().getName(),
                        method.getName());
            }
        }
    }

    /** As {@link FutureBody}, and handles what that throws: one object for both. */
    private record VoidBody(Calls calls, MethodInvocation invocation) implements TaskBody, FailureHandler {

        @Override
        public @Nullable Object run() throws Throwable {
            return invocation.proceed();
        }

        @Override
        public void failed(String task, Throwable failure) {
            handler().handleUncaughtException(failure, calls.running, invocation.getArguments());
        }

        @Override
        public void rejected(String task, Throwable rejection) {
            ApplicationUncaughtExceptionHandler.rejected(
                    handler(), rejection, calls.running, invocation.getArguments());
        }

        private AsyncUncaughtExceptionHandler handler() {
            return calls.environment.uncaughtExceptionHandler();
        }
    }

    /** Runs on its caller's thread. Its exceptions are its own, even an interruption that it does not declare. */
    private static final class LimitedBody implements TaskBody {

        private final MethodInvocation invocation;
        private boolean started;

        LimitedBody(MethodInvocation invocation) {
            this.invocation = invocation;
        }

        @Override
        public @Nullable Object run() throws Throwable {
            started = true;
            return invocation.proceed();
        }
    }
}
