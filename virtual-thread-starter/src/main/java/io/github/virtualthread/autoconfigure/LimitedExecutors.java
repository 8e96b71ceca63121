package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.aop.TypeHierarchy;
import io.github.virtualthread.execution.ExecutorView;
import io.github.virtualthread.limit.TaskLimit;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.AbortPolicy;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
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
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Executors of applications whose tasks run under a limit. Each is of the class that it was, and starts no thread of its own. */
final class LimitedExecutors {

    private static final Set<String> TASKS =
            Set.of("execute", "submit", "submitCompletable", "submitListenable", "invokeAll", "invokeAny");

    /** The end of an executor is that of the application. */
    private static final Set<String> ENDS =
            Set.of("shutdown", "shutdownNow", "awaitTermination", "isShutdown", "isTerminated", "close");

    private LimitedExecutors() {}

    /** Why an object cannot be put under a limit, null if it can. */
    static @Nullable String whyNot(Object bean) {
        Class<?> type = ClassUtils.getUserClass(bean);
        if (!(bean instanceof Executor)) {
            return "is a %s, not an executor".formatted(type.getName());
        }
        if (bean instanceof TaskScheduler || bean instanceof ScheduledThreadPoolExecutor) {
            return "is a scheduler, whose tasks wait for a time and not for a permit";
        }
        if (!isByClass(type)) {
            return null;
        }
        for (Method method : type.getMethods()) {
            Method ours = ours(method);
            String reason = ours == null ? null : whyNot(method, ours);
            if (reason != null) {
                return "is a %s, whose method %s %s".formatted(type.getName(), method.getName(), reason);
            }
        }
        return null;
    }

    private static @Nullable String whyNot(Method theirs, Method ours) {
        if (Modifier.isFinal(theirs.getModifiers())) {
            return "is final";
        }
        return theirs.getReturnType().isAssignableFrom(ours.getReturnType())
                ? null
                : "returns %s, but under a limit it returns %s"
                        .formatted(
                                theirs.getReturnType().getSimpleName(),
                                ours.getReturnType().getSimpleName());
    }

    /** What is called in place of a method that runs tasks or ends a service, null for other methods. */
    private static @Nullable Method ours(Method method) {
        boolean ends =
                ENDS.contains(method.getName()) && ExecutorService.class.isAssignableFrom(method.getDeclaringClass());
        if (!ends && !TASKS.contains(method.getName())) {
            return null;
        }
        return Stream.of(ExecutorView.class, TaskExecutorAdapter.class, ExecutorServiceAdapter.class)
                .map(type -> ReflectionUtils.findMethod(type, method.getName(), method.getParameterTypes()))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    private static boolean isByClass(Class<?> type) {
        return !Modifier.isFinal(type.getModifiers())
                && !type.isSealed()
                && !type.getName().startsWith("java.");
    }

    /**
     * Returns an executor in place of another one: a proxy of its class, or of its interfaces if the class is final, sealed or of the JDK.
     *
     * @param bean its name
     * @param theirs executor of the application
     * @param view runs the tasks
     * @param classLoader class loader of the application, which has its class
     */
    static Object inPlaceOf(String bean, Executor theirs, ExecutorView view, @Nullable ClassLoader classLoader) {
        ProxyFactory factory = new ProxyFactory(theirs);
        factory.setProxyTargetClass(isByClass(theirs.getClass()));
        factory.addAdvice(new UnderLimit(bean, view, new TaskExecutorAdapter(view), new ExecutorServiceAdapter(view)));
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
        Class<?> type = ClassUtils.getUserClass(theirs);
        if (!TypeHierarchy.withCodeOfUsers(type).isEmpty()) {
            losses.add(
                    "Executor '%s' is a %s: what its own methods for tasks do is not used any more. Do it in a TaskDecorator bean"
                            .formatted(bean, type.getName()));
        }
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
     * @param bean name of the executor
     * @param view runs the tasks
     * @param listenable as well, for futures of Spring 6.2
     * @param service as well, for many tasks at once; throws where somebody wants to end it
     */
    private record UnderLimit(
            String bean, ExecutorView view, TaskExecutorAdapter listenable, ExecutorServiceAdapter service)
            implements MethodInterceptor {

        /** Spring itself sets others, such as the phase. */
        private static final Set<String> SIZES = Set.of(
                "setCorePoolSize", "setMaxPoolSize", "setQueueCapacity", "setConcurrencyLimit", "setTaskDecorator");

        @Override
        public @Nullable Object invoke(MethodInvocation call) throws Throwable {
            Method ours = ours(call.getMethod());
            if (ours != null) {
                return run(ours, call.getArguments());
            }
            String name = call.getMethod().getName();
            if (SIZES.contains(name)) {
                throw new UnsupportedOperationException(
                        "%s has the numbers of its limit: %s has no effect".formatted(view, name));
            }
            return switch (name) {
                case "toString" -> view.toString();
                case "getActiveCount", "getPoolSize" -> number(TaskLimit::inUse);
                case "getQueueSize" -> number(TaskLimit::waiting);
                // as of a pool that has not begun, for which metrics are prepared
                case "getThreadPoolExecutor" ->
                    throw new IllegalStateException(
                            "%s has no ThreadPoolExecutor: ask getActiveCount() and getQueueSize(), or remove %s%s"
                                    .formatted(view, AsyncSettings.EXECUTORS, bean));
                default -> call.proceed();
            };
        }

        /** Its limit may not exist, which the check at the start reports. */
        private int number(ToIntFunction<TaskLimit> ofLimit) {
            TaskLimit limit = view.limit();
            return limit == null ? 0 : ofLimit.applyAsInt(limit);
        }

        private @Nullable Object run(Method ours, @Nullable Object[] arguments) throws Throwable {
            for (Object target : List.of(view, listenable, service)) {
                if (ours.getDeclaringClass().isInstance(target)) {
                    return AopUtils.invokeJoinpointUsingReflection(target, ours, arguments);
                }
            }
            throw new IllegalStateException("%s has no %s".formatted(view, ours));
        }
    }
}
