package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.execution.ExecutorView;
import io.github.virtualthread.limit.TaskLimit;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor.AbortPolicy;
import java.util.function.ToIntFunction;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.ExecutorServiceAdapter;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.ReflectionUtils;

/** Executors of applications whose tasks run under a limit. Each is of the class that it was, and starts no thread of its own. */
final class LimitedExecutors {

    private LimitedExecutors() {}

    /**
     * Returns an executor in place of another one: a proxy of its class, or of its interfaces if the class is final or of the JDK.
     *
     * @param theirs executor of the application
     * @param view runs the tasks
     * @param classLoader class loader of the application, which has its class
     */
    static Object inPlaceOf(Executor theirs, ExecutorView view, @Nullable ClassLoader classLoader) {
        ProxyFactory factory = new ProxyFactory(theirs);
        Class<?> type = theirs.getClass();
        factory.setProxyTargetClass(
                !Modifier.isFinal(type.getModifiers()) && !type.getName().startsWith("java."));
        factory.addAdvice(new UnderLimit(view, new TaskExecutorAdapter(view), new ExecutorServiceAdapter(view)));
        return factory.getProxy(classLoader);
    }

    /** The view behind an executor, null if it is none of a limit. */
    static @Nullable ExecutorView view(@Nullable Executor executor) {
        if (executor instanceof ExecutorView view) {
            return view;
        }
        for (Object each = executor; each instanceof Advised proxy; each = AopProxyUtils.getSingletonTarget(each)) {
            for (Advisor advisor : proxy.getAdvisors()) {
                if (advisor.getAdvice() instanceof UnderLimit limited) {
                    return limited.view;
                }
            }
        }
        return null;
    }

    /**
     * What an executor did for its tasks, and a limit does not.
     *
     * @param bean its name
     * @param decorators decorators that are beans: they are put around each task under a limit
     */
    static List<String> losses(String bean, Executor theirs, ObjectProvider<TaskDecorator> decorators) {
        List<String> losses = new ArrayList<>();
        Object decorator = decorator(theirs);
        if (decorator != null
                && !decorator.getClass().getName().startsWith("org.springframework.")
                && decorators.stream().noneMatch(decorator::equals)) {
            losses.add("The decorator %s of executor '%s' is not used any more. Make it a bean of type TaskDecorator"
                    .formatted(decorator.getClass().getName(), bean));
        }
        RejectedExecutionHandler handler = handler(theirs);
        if (handler != null && !(handler instanceof AbortPolicy)) {
            losses.add("The %s of executor '%s' is not used any more: a full queue rejects the task"
                    .formatted(handler.getClass().getSimpleName(), bean));
        }
        return losses;
    }

    private static @Nullable RejectedExecutionHandler handler(Executor theirs) {
        try {
            return theirs instanceof ThreadPoolTaskExecutor pool
                    ? pool.getThreadPoolExecutor().getRejectedExecutionHandler()
                    : null;
        } catch (RuntimeException unknown) { // it has not begun, or stands for one in a scope
            return null;
        }
    }

    /** Spring shows it to nobody. */
    private static @Nullable Object decorator(Executor theirs) {
        Field field = ReflectionUtils.findField(theirs.getClass(), "taskDecorator", TaskDecorator.class);
        if (field == null) {
            return null;
        }
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, theirs);
    }

    /**
     * What runs tasks goes to the limit, and what tells numbers asks the limit. Nothing changes it.
     *
     * @param view runs the tasks
     * @param listenable as well, for futures of Spring 6.2
     * @param service as well, for many tasks at once; throws where somebody wants to end it
     */
    private record UnderLimit(ExecutorView view, TaskExecutorAdapter listenable, ExecutorServiceAdapter service)
            implements MethodInterceptor {

        private static final Set<String> TASKS =
                Set.of("execute", "submit", "submitCompletable", "submitListenable", "invokeAll", "invokeAny");

        /** The end of an executor is that of the application. */
        private static final Set<String> ENDS =
                Set.of("shutdown", "shutdownNow", "awaitTermination", "isShutdown", "isTerminated", "close");

        /** Spring itself sets others, such as the phase. */
        private static final Set<String> SIZES = Set.of(
                "setCorePoolSize", "setMaxPoolSize", "setQueueCapacity", "setConcurrencyLimit", "setTaskDecorator");

        @Override
        public @Nullable Object invoke(MethodInvocation call) throws Throwable {
            Method method = call.getMethod();
            String name = method.getName();
            boolean ends = ENDS.contains(name) && call.getThis() instanceof ExecutorService;
            if (ends || TASKS.contains(name)) {
                return run(method, call.getArguments());
            }
            if (SIZES.contains(name)) {
                throw new UnsupportedOperationException(
                        "%s has the numbers of its limit: %s has no effect".formatted(view, name));
            }
            return switch (name) {
                case "toString" -> view.toString();
                case "getActiveCount", "getPoolSize" -> number(TaskLimit::inUse);
                case "getQueueSize" -> number(TaskLimit::waiting);
                // as of a pool that has not begun, for which metrics are prepared
                case "getThreadPoolExecutor" -> throw new IllegalStateException(view + " has no ThreadPoolExecutor");
                default -> call.proceed();
            };
        }

        /** Its limit may not exist, which the check at the start reports. */
        private int number(ToIntFunction<TaskLimit> ofLimit) {
            TaskLimit limit = view.limit();
            return limit == null ? 0 : ofLimit.applyAsInt(limit);
        }

        private @Nullable Object run(Method method, Object[] arguments) throws Throwable {
            for (Object target : List.of(view, listenable, service)) {
                Method same =
                        ReflectionUtils.findMethod(target.getClass(), method.getName(), method.getParameterTypes());
                if (same != null) {
                    return AopUtils.invokeJoinpointUsingReflection(target, same, arguments);
                }
            }
            throw new UnsupportedOperationException("%s has no %s".formatted(view, method));
        }
    }
}
