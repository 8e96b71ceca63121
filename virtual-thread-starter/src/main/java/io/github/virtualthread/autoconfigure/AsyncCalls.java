package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.execution.ExecutorView;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.support.AopUtils;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.scheduling.annotation.AnnotationAsyncExecutionInterceptor;
import org.springframework.util.function.SingletonSupplier;

/**
 * Calls of {@code @Async} methods. If the executor is that of a limit, the call has the name of its method, and the handler of
 * uncaught exceptions gets a late rejection, which Spring drops. Other calls are left to Spring's advice.
 */
final class AsyncCalls extends AnnotationAsyncExecutionInterceptor {

    /** A type of Spring 6.2, whose futures come from an adapter only. */
    private static final String LISTENABLE = "org.springframework.util.concurrent.ListenableFuture";

    private final MethodInterceptor spring;
    private final Supplier<AsyncUncaughtExceptionHandler> handler;
    private final Map<Method, ExecutorView> named = new ConcurrentHashMap<>();

    /**
     * Creates the advice.
     *
     * @param spring advice of calls with other executors
     * @param handler looks up the handler at the first failure
     */
    AsyncCalls(MethodInterceptor spring, Supplier<AsyncUncaughtExceptionHandler> handler) {
        super(null);
        this.spring = spring;
        this.handler = SingletonSupplier.of(handler);
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
        executor.execute(invocation::proceed, failure -> handler.get()
                .handleUncaughtException(failure, method, invocation.getArguments()));
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
