package io.github.virtualthread.autoconfigure.async;

import io.github.virtualthread.aop.ApplicationUncaughtExceptionHandler;
import io.github.virtualthread.execution.ExecutorView;
import io.github.virtualthread.execution.FailureHandler;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.scheduling.annotation.AnnotationAsyncExecutionInterceptor;
import org.springframework.util.ReflectionUtils;

/**
 * Calls of {@code @Async} methods. If the executor is that of a limit, the call has the name of its method, and the handler of
 * uncaught exceptions gets a late rejection, which Spring drops. Other calls run as by Spring's advice.
 */
final class AsyncCalls extends AnnotationAsyncExecutionInterceptor {

    /** A type of Spring 6.2, whose futures come from an adapter only. */
    private static final String LISTENABLE = "org.springframework.util.concurrent.ListenableFuture";

    private final Supplier<AsyncUncaughtExceptionHandler> handler;
    private final Map<Method, ExecutorView> named = new ConcurrentHashMap<>();

    /**
     * Creates the advice.
     *
     * @param spring advice of Spring, which has chosen an executor and the handler of uncaught exceptions
     * @param common supplies the executor of methods that name none, null if Spring chooses it
     */
    AsyncCalls(AsyncExecutionAspectSupport spring, Supplier<@Nullable ExecutorView> common, BeanFactory beans) {
        super(null);
        Supplier<Executor> chosen = setting("defaultExecutor", spring);
        handler = setting("exceptionHandler", spring);
        configure(
                () -> {
                    ExecutorView ours = common.get();
                    return ours == null ? limitedIfOurs(chosen.get()) : ours;
                },
                handler);
        setBeanFactory(beans);
    }

    /** Spring shows it to nobody. Both are suppliers, so that an AsyncConfigurer makes its executor once. */
    @SuppressWarnings("unchecked")
    private static <T> Supplier<T> setting(String name, AsyncExecutionAspectSupport spring) {
        Field field = Objects.requireNonNull(ReflectionUtils.findField(AsyncExecutionAspectSupport.class, name));
        ReflectionUtils.makeAccessible(field);
        return (Supplier<T>) Objects.requireNonNull(ReflectionUtils.getField(field, spring));
    }

    /** What Spring's advice falls back to is among what it has chosen; its aspect has nothing. */
    @Override
    protected @Nullable Executor getDefaultExecutor(@Nullable BeanFactory beans) {
        return null;
    }

    @Override
    protected @Nullable Executor findQualifiedExecutor(@Nullable BeanFactory beans, String qualifier) {
        return limitedIfOurs(super.findQualifiedExecutor(beans, qualifier));
    }

    private static @Nullable Executor limitedIfOurs(@Nullable Executor executor) {
        ExecutorView view = LimitedExecutors.view(executor);
        return view == null ? executor : view;
    }

    @Override
    public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
        Object target = invocation.getThis();
        Method method = BridgeMethodResolver.getMostSpecificMethod(
                invocation.getMethod(), target == null ? null : AopUtils.getTargetClass(target));
        if (!(determineAsyncExecutor(method) instanceof ExecutorView executor) || !returnsNothing(method)) {
            return super.invoke(invocation);
        }
        executor.execute(invocation::proceed, new Uncaught(method, invocation.getArguments()));
        return null;
    }

    /** Also in Kotlin, as Spring has it. */
    static boolean returnsNothing(Method method) {
        Class<?> type = method.getReturnType();
        return type == void.class || type.getName().equals("kotlin.Unit");
    }

    @Override
    protected @Nullable AsyncTaskExecutor determineAsyncExecutor(Method method) {
        AsyncTaskExecutor found = super.determineAsyncExecutor(method);
        if (!(found instanceof ExecutorView executor)) {
            return found;
        }
        ExecutorView known = named.get(method); // first: computeIfAbsent may take a lock
        return known == null ? named.computeIfAbsent(method, missing -> executor.named(name(missing))) : known;
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

    /** Tells Spring's handler of uncaught exceptions. */
    private final class Uncaught implements FailureHandler {

        private final Method method;
        private final @Nullable Object[] arguments;

        Uncaught(Method method, @Nullable Object[] arguments) {
            this.method = method;
            this.arguments = arguments;
        }

        @Override
        public void failed(String task, Throwable failure) {
            handler.get().handleUncaughtException(failure, method, arguments);
        }

        @Override
        public void rejected(String task, Throwable rejection) {
            ApplicationUncaughtExceptionHandler.rejected(handler.get(), rejection, method, arguments);
        }
    }
}
