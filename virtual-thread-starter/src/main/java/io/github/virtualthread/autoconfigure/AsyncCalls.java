package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.execution.ExecutorView;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.scheduling.annotation.AnnotationAsyncExecutionInterceptor;
import org.springframework.util.ReflectionUtils;

/**
 * Calls of {@code @Async} methods. If the executor is that of a limit, the call has the name of its method, and the handler of
 * uncaught exceptions gets a late rejection, which Spring drops. Other calls are left to Spring's advice.
 */
final class AsyncCalls extends AnnotationAsyncExecutionInterceptor {

    /** A type of Spring 6.2, whose futures come from an adapter only. */
    private static final String LISTENABLE = "org.springframework.util.concurrent.ListenableFuture";

    /** Tells the handler of uncaught exceptions. Spring shows it to subclasses only. */
    private static final Method HANDLE_ERROR = Objects.requireNonNull(ReflectionUtils.findMethod(
            AsyncExecutionAspectSupport.class, "handleError", Throwable.class, Method.class, Object[].class));

    static {
        ReflectionUtils.makeAccessible(HANDLE_ERROR);
    }

    private final AnnotationAsyncExecutionInterceptor spring;
    private final Map<Method, ExecutorView> named = new ConcurrentHashMap<>();

    /**
     * Creates the advice.
     *
     * @param spring advice of calls with other executors, which has the handler of uncaught exceptions
     */
    AsyncCalls(AnnotationAsyncExecutionInterceptor spring) {
        super(null);
        this.spring = spring;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Method method = BridgeMethodResolver.getMostSpecificMethod(
                invocation.getMethod(), target == null ? null : AopUtils.getTargetClass(target));
        if (!(determineAsyncExecutor(method) instanceof ExecutorView executor)) {
            return spring.invoke(invocation);
        }
        if (method.getReturnType() != void.class) {
            return super.invoke(invocation);
        }
        executor.execute(
                invocation::proceed,
                failure ->
                        ReflectionUtils.invokeMethod(HANDLE_ERROR, spring, failure, method, invocation.getArguments()));
        return null;
    }

    @Override
    protected @Nullable AsyncTaskExecutor determineAsyncExecutor(Method method) {
        ExecutorView known = named.get(method);
        if (known != null) {
            return known;
        }
        AsyncTaskExecutor found = super.determineAsyncExecutor(method);
        return found instanceof ExecutorView executor
                ? named.computeIfAbsent(method, missing -> executor.named(name(missing)))
                : found;
    }

    /** As that of a method with {@code @VirtualThread}. */
    private static String name(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    @Override
    protected @Nullable Object doSubmit(Callable<Object> task, AsyncTaskExecutor executor, Class<?> returnType) {
        boolean listenable = returnType.getName().equals(LISTENABLE);
        return super.doSubmit(task, listenable ? new TaskExecutorAdapter(executor) : executor, returnType);
    }
}
