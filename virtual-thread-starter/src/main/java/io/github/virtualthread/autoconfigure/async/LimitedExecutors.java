package io.github.virtualthread.autoconfigure.async;

import io.github.virtualthread.Internal;
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
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor.AbortPolicy;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.support.ContextPropagatingTaskDecorator;
import org.springframework.core.task.support.ExecutorServiceAdapter;
import org.springframework.core.task.support.TaskExecutorAdapter;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.concurrent.ConcurrentTaskExecutor;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** Executors of applications whose tasks run under a limit. Each is of the class that it was, and starts no thread of its own. */
@Internal
public final class LimitedExecutors {

    private static final Set<String> TASKS =
            Set.of("execute", "submit", "submitCompletable", "submitListenable", "invokeAll", "invokeAny");

    private static final Set<Class<?>> TASK_TYPES = Set.of(Runnable.class, Callable.class);

    private LimitedExecutors() {}

    /** Why an object cannot be put under a limit, null if it can. */
    static @Nullable String whyNot(Object bean) {
        if (!(bean instanceof Executor)) {
            return "is a %s, not an executor".formatted(bean.getClass().getName());
        }
        if (bean instanceof TaskScheduler || bean instanceof ScheduledThreadPoolExecutor) {
            return "is a scheduler, whose tasks wait for a time and not for a permit";
        }
        return null;
    }

    /** What is called in place of a method that runs tasks or belongs to a service of the JDK, null for other methods. */
    private static @Nullable Method ours(Method method) {
        boolean isOfService = ExecutorService.class.isAssignableFrom(method.getDeclaringClass())
                && ClassUtils.hasMethod(ExecutorService.class, method);
        if (!isOfService && !TASKS.contains(method.getName())) {
            return null;
        }
        return Stream.of(ExecutorView.class, TaskExecutorAdapter.class, ExecutorServiceAdapter.class)
                .map(type -> ReflectionUtils.findMethod(type, method.getName(), method.getParameterTypes()))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** Whether there can be a subclass that runs all tasks under a limit. */
    private static boolean isByClass(Class<?> type) {
        return !Modifier.isFinal(type.getModifiers())
                && !type.isSealed()
                && !TypeHierarchy.isOfJdk(type)
                && Stream.of(type.getDeclaredConstructors())
                        .anyMatch(constructor -> !Modifier.isPrivate(constructor.getModifiers()))
                && runsUnderLimit(type);
    }

    /** Whether ours can be called in place of all methods that run tasks. */
    private static boolean runsUnderLimit(Class<?> type) {
        return Stream.of(type.getMethods()).allMatch(method -> {
            Method ours = ours(method);
            return ours == null
                    || (!Modifier.isFinal(method.getModifiers())
                            && method.getReturnType().isAssignableFrom(ours.getReturnType()));
        });
    }

    /**
     * Returns an executor in place of another one: a proxy of its class, or of its interfaces if there can be none of its class.
     *
     * @param bean its name
     * @param theirs executor of the application
     * @param view runs the tasks
     * @param classLoader class loader of the application, which has its class
     */
    static Object inPlaceOf(String bean, Executor theirs, ExecutorView view, @Nullable ClassLoader classLoader) {
        ProxyFactory factory = new ProxyFactory();
        factory.setTarget(theirs);
        if (isByClass(ClassUtils.getUserClass(theirs))) {
            factory.setProxyTargetClass(true); // has its interfaces, with what it says of their types
        } else {
            factory.setInterfaces(Stream.of(ClassUtils.getAllInterfaces(theirs))
                    .filter(LimitedExecutors::runsUnderLimit)
                    .toArray(Class<?>[]::new));
            factory.addInterface(Executor.class); // which one that is left out may extend
        }
        factory.addAdvice(new UnderLimit(bean, view, new TaskExecutorAdapter(view), new ExecutorServiceAdapter(view)));
        return factory.getProxy(classLoader);
    }

    /**
     * Returns the view behind an executor.
     *
     * @param executor any, null for none
     * @return null if it is no executor of a limit
     */
    public static @Nullable ExecutorView view(@Nullable Executor executor) {
        if (executor instanceof ExecutorView view) {
            return view;
        }
        for (Object each = executor; each instanceof Advised proxy; each = target(proxy)) {
            for (Advisor advisor : proxy.getAdvisors()) {
                if (advisor.getAdvice() instanceof UnderLimit limited) {
                    return limited.view;
                }
            }
        }
        return null;
    }

    /** Also of a bean of a scope, if that is active. */
    private static @Nullable Object target(Advised proxy) {
        try {
            return proxy.getTargetSource().getTarget();
        } catch (Exception notActive) {
            return null;
        }
    }

    /**
     * What an executor did for its tasks, and a limit does not.
     *
     * @param bean its name
     * @param decorators decorators that are beans: they are put around each task under a limit
     */
    static List<String> losses(String bean, Executor theirs, ObjectProvider<TaskDecorator> decorators) {
        List<String> losses = new ArrayList<>();
        addOwnMethods(bean, ClassUtils.getUserClass(theirs), losses);
        decorators(decorator(theirs))
                .filter(each -> decorators.stream().noneMatch(each::equals))
                .map(each ->
                        "The decorator %s of executor '%s' is not used any more. Make it a bean of type TaskDecorator, unless it only copies the MDC"
                                .formatted(each.getClass().getName().replaceFirst("\\$\\$Lambda.*", ""), bean))
                .forEach(losses::add);
        RejectedExecutionHandler handler = handler(theirs);
        if (handler != null && !(handler instanceof AbortPolicy)) {
            losses.add("The %s of executor '%s' is not used any more: a full queue rejects the task"
                    .formatted(handler.getClass().getSimpleName(), bean));
        }
        return losses;
    }

    /** Of a class of the application, those that add something to tasks, and those that have tasks run elsewhere. */
    private static void addOwnMethods(String bean, Class<?> type, List<String> losses) {
        Set<String> replaced = new TreeSet<>();
        Set<String> elsewhere = new TreeSet<>();
        for (Class<?> each : type.isHidden() ? List.<Class<?>>of() : TypeHierarchy.withCodeOfUsers(type)) {
            for (Method method : each.getDeclaredMethods()) {
                if (ours(method) != null && !method.isBridge()) {
                    replaced.add(method.getName());
                } else if (Stream.of(method.getParameterTypes()).anyMatch(TASK_TYPES::contains)
                        && !Modifier.isPrivate(method.getModifiers())
                        && !method.isSynthetic()) {
                    elsewhere.add(method.getName());
                }
            }
        }
        if (!replaced.isEmpty()) {
            losses.add(
                    "What %s of %s, the class of executor '%s', adds to tasks is not used any more. A TaskDecorator bean can add it"
                            .formatted(String.join(", ", replaced), type.getName(), bean));
        }
        if (!elsewhere.isEmpty()) {
            losses.add("%s of %s, the class of executor '%s', runs tasks without its limit"
                    .formatted(String.join(", ", elsewhere), type.getName(), bean));
        }
    }

    private static @Nullable RejectedExecutionHandler handler(Executor theirs) {
        try {
            return switch (theirs) {
                case ThreadPoolTaskExecutor pool -> pool.getThreadPoolExecutor().getRejectedExecutionHandler();
                case ThreadPoolExecutor pool -> pool.getRejectedExecutionHandler();
                case ConcurrentTaskExecutor adapter -> handler(adapter.getConcurrentExecutor());
                default -> null;
            };
        } catch (RuntimeException unknown) { // it has not begun, or stands for one in a scope
            return null;
        }
    }

    /** Spring shows it to nobody. */
    private static @Nullable Object decorator(Executor theirs) {
        Field field = ReflectionUtils.findField(theirs.getClass(), "taskDecorator", TaskDecorator.class);
        return field == null ? null : value(field, theirs);
    }

    /** One, or those of which it consists, without the one that registered context needs no more. */
    private static Stream<?> decorators(@Nullable Object decorator) {
        if (decorator == null || decorator instanceof ContextPropagatingTaskDecorator) {
            return Stream.empty();
        }
        Field parts = ReflectionUtils.findField(decorator.getClass(), "taskDecorators", List.class); // of a composite
        if (parts != null && value(parts, decorator) instanceof List<?> several) {
            return several.stream().flatMap(LimitedExecutors::decorators);
        }
        return Stream.of(decorator);
    }

    private static @Nullable Object value(Field field, Object of) {
        ReflectionUtils.makeAccessible(field);
        return ReflectionUtils.getField(field, of);
    }

    /**
     * What runs tasks goes to the limit, and what tells numbers asks the limit. Nothing changes it.
     *
     * @param bean name of the executor
     * @param view runs the tasks
     * @param listenable runs the tasks of methods that return a future of Spring 6.2
     * @param service runs many tasks at once; throws where somebody wants to end it
     */
    private record UnderLimit(
            String bean, ExecutorView view, TaskExecutorAdapter listenable, ExecutorServiceAdapter service)
            implements MethodInterceptor {

        /** Spring itself sets others, such as the phase. */
        private static final Set<String> SIZES = Set.of(
                "setCorePoolSize", "setMaxPoolSize", "setQueueCapacity", "setConcurrencyLimit", "setTaskDecorator");

        @Override
        public @Nullable Object invoke(MethodInvocation call) throws Throwable {
            if (call.getMethod().getName().equals("execute") && call.getArguments().length == 1) {
                view.execute((Runnable) call.getArguments()[0]); // most calls: the others are looked up
                return null;
            }
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
            Object target = Stream.of(view, listenable, service)
                    .filter(ours.getDeclaringClass()::isInstance)
                    .findFirst()
                    .orElseThrow();
            return AopUtils.invokeJoinpointUsingReflection(target, ours, arguments);
        }
    }
}
