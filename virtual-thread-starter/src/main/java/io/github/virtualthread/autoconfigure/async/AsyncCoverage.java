package io.github.virtualthread.autoconfigure.async;

import io.github.virtualthread.aop.TypeHierarchy;
import io.github.virtualthread.bytecode.SelfCalls;
import io.github.virtualthread.bytecode.SelfCalls.SelfCall;
import io.github.virtualthread.execution.ExecutorView;
import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.Numbers;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.mistake.Mistake;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncAnnotationAdvisor;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.ReflectionUtils.MethodFilter;

/**
 * Where the calls of {@code @Async} methods run, found in the beans as they are when the start is over. Beans that are created later
 * are not among them.
 */
final class AsyncCoverage {

    private final ConfigurableListableBeanFactory beans;
    private final Set<Pointcut> pointcuts;
    private final @Nullable AsyncCalls woven;
    private final boolean advising;
    private final AsyncExecutors executors;
    private final Map<String, Set<Method>> limited = new TreeMap<>();
    private final SelfCalls selfCalls = new SelfCalls();

    /** Methods whose executor is not under a limit, with that executor. */
    final List<String> elsewhere = new ArrayList<>();

    /** Methods that no executor runs, and why. */
    final List<String> problems = new ArrayList<>();

    /** Calls that an object makes to its own methods, which therefore run on the thread of their caller. */
    final List<Mistake> selfInvocations = new ArrayList<>();

    AsyncCoverage(ConfigurableListableBeanFactory beans, AsyncExecutors executors) {
        AsyncMethods methods = executors.methods();
        this.beans = beans;
        this.executors = executors;
        this.advising = !methods.pointcuts.isEmpty();
        this.pointcuts = new LinkedHashSet<>(methods.pointcuts);
        pointcuts.add(new AsyncAnnotationAdvisor().getPointcut());
        String aspect = TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME;
        if (beans.containsBean(aspect)) {
            this.woven = methods.calls(beans.getBean(aspect, AsyncExecutionAspectSupport.class));
        } else {
            this.woven = null;
        }
        for (String name : beans.getSingletonNames()) {
            Object bean = beans.getSingleton(name);
            if (bean != null && !(bean instanceof FactoryBean)) {
                look(name, bean);
            }
        }
    }

    /** Whether methods are woven, in mode ASPECTJ. */
    boolean isWoven() {
        return woven != null;
    }

    /** As in {@code 3 methods under limit 'common', 1 method without a limit}. */
    String summary() {
        if (limited.isEmpty()) {
            return "no method of the beans created so far";
        }
        return limited.entrySet().stream()
                .map(each -> summary(each.getKey(), each.getValue().size()))
                .collect(Collectors.joining(", "));
    }

    private static String summary(String limit, int methods) {
        String under = LimitNames.isNone(limit) ? "without a limit" : "under limit " + limit;
        return "%s %s".formatted(Numbers.of(methods, "method"), under);
    }

    private void look(String name, Object bean) {
        Class<?> type = type(name, bean);
        if (TypeHierarchy.isOfSpring(type)) {
            return;
        }
        Set<Method> methods = MethodIntrospector.selectMethods(type, (MethodFilter) method -> isAsync(method, type));
        if (!methods.isEmpty()) {
            Found found = new Found(name, bean, type);
            methods.forEach(method -> look(found, method));
            if (advising) {
                findSelfInvocations(type, methods);
            }
        }
    }

    /** The class that the application has written, also behind a proxy that is none of Spring's. */
    private Class<?> type(String name, Object bean) {
        Class<?> type = AopProxyUtils.ultimateTargetClass(bean);
        Class<?> declared = Proxy.isProxyClass(type) ? executors.declaredType(name) : null;
        return declared == null ? type : declared;
    }

    /** Without weaving, only methods that a proxy can have: another one with the annotation of its class is a part of their work. */
    private boolean isAsync(Method method, Class<?> type) {
        int modifiers = method.getModifiers();
        return (woven != null || !Modifier.isPrivate(modifiers))
                && !Modifier.isStatic(modifiers)
                && !ReflectionUtils.isObjectMethod(method)
                && !TypeHierarchy.isOfSpring(method.getDeclaringClass())
                && pointcuts.stream().anyMatch(each -> matches(each, type, method));
    }

    private void look(Found bean, Method method) {
        String name = name(bean.type, method);
        AsyncAnnotationAdvisor advisor = bean.advisor(method);
        if (!AsyncCalls.returnsNothing(method) && !Future.class.isAssignableFrom(method.getReturnType())) {
            problems.add("%s has @Async, but returns %s, and Spring refuses its calls: return void or a Future"
                    .formatted(name, method.getReturnType().getSimpleName()));
        } else if (bean.cannotOverride(method)) {
            onCallersThread(name, "the proxy cannot override it, which must be public and not final");
        } else if (bean.isOpaque()) {
            problems.add("%s has @Async, but bean '%s' is behind a proxy of others: where its calls run is not known"
                    .formatted(name, bean.name));
        } else if (advisor != null && advisor.getAdvice() instanceof AsyncCalls calls) {
            count(name, calls, method);
        } else if (advisor != null) {
            elsewhere.add("@Async %s is run by %s, which virtual-thread.async leaves as it is"
                    .formatted(name, advisor.getAdvice().getClass().getName()));
        } else if (woven != null && isWoven(bean.type, method)) {
            count(name, woven, method);
        } else {
            onCallersThread(name, whyUnadvised(bean));
        }
    }

    private String whyUnadvised(Found bean) {
        if (woven != null) {
            return "it is not woven";
        }
        if (!advising) {
            return "no class has @EnableAsync";
        }
        return "bean '%s' has no advice for it, as it was created too early, is a mock, or @EnableAsync names another annotation"
                .formatted(bean.name);
    }

    private void onCallersThread(String name, String reason) {
        problems.add("%s has @Async, but %s: its calls run on the thread of their caller".formatted(name, reason));
    }

    /** AspectJ moves the body of a method that it weaves. */
    private static boolean isWoven(Class<?> type, Method method) {
        String body = method.getName() + "_aroundBody";
        return Arrays.stream(type.getDeclaredMethods())
                .anyMatch(each -> each.getName().startsWith(body));
    }

    private static boolean matches(Pointcut pointcut, Class<?> type, Method method) {
        return pointcut.getClassFilter().matches(type)
                && pointcut.getMethodMatcher().matches(method, type);
    }

    private void count(String name, AsyncCalls calls, Method method) {
        AsyncTaskExecutor executor;
        try {
            executor = calls.determineAsyncExecutor(method);
        } catch (RuntimeException none) {
            problems.add("%s has @Async, but no executor: %s".formatted(name, none.getMessage()));
            return;
        }
        if (executor instanceof ExecutorView view) {
            TaskLimit limit = view.limit();
            limited.computeIfAbsent(limit == null ? LimitNames.NONE : limit.name(), missing -> new HashSet<>())
                    .add(method);
        } else {
            elsewhere.add("@Async %s runs on %s"
                    .formatted(name, executor == null ? "the thread of its caller" : named(executor)));
        }
    }

    /** With the name of the bean, if it is one. */
    private String named(AsyncTaskExecutor executor) {
        String kind = "a %s, which is not the executor of a limit"
                .formatted(ClassUtils.getUserClass(executor).getSimpleName());
        for (String name : beans.getBeanNamesForType(AsyncTaskExecutor.class, true, false)) {
            if (beans.containsSingleton(name) && executor.equals(beans.getSingleton(name))) {
                return "'%s', %s".formatted(name, kind);
            }
        }
        return kind;
    }

    private void findSelfInvocations(Class<?> type, Collection<Method> methods) {
        try {
            for (SelfCall call : selfCalls.find(TypeHierarchy.withCodeOfUsers(type), methods)) {
                if (!isPartOfItsWork(call, methods)) {
                    selfInvocations.add(new Mistake(
                            "%s calls %s on its own object: the call bypasses the proxy, so it runs on the thread of its caller"
                                    .formatted(call.place(), name(type, call.callee())),
                            "Move the method to another bean."));
                }
            }
        } catch (UncheckedIOException unreadable) {
            // a class without a class file
        }
    }

    /** A method that has the annotation of its class only, called by another one that runs on a thread of its own. */
    private static boolean isPartOfItsWork(SelfCall call, Collection<Method> methods) {
        return !AnnotatedElementUtils.hasAnnotation(call.callee(), Async.class)
                && methods.stream()
                        .anyMatch(each -> each.getName().equals(call.place().getMethodName()));
    }

    private static String name(Class<?> type, Method method) {
        return type.getName() + "." + method.getName();
    }

    /**
     * A bean with asynchronous methods.
     *
     * @param type class that the application has written
     */
    private record Found(String name, Object bean, Class<?> type) {

        /** What runs a method, in its proxy or a proxy behind that. */
        @Nullable
        AsyncAnnotationAdvisor advisor(Method method) {
            for (Object each = bean; each instanceof Advised proxy; each = AopProxyUtils.getSingletonTarget(each)) {
                for (Advisor advisor : proxy.getAdvisors()) {
                    if (advisor instanceof AsyncAnnotationAdvisor async && matches(async.getPointcut(), type, method)) {
                        return async;
                    }
                }
            }
            return null;
        }

        /** Nobody can look into a proxy that is none of Spring's. */
        boolean isOpaque() {
            return Proxy.isProxyClass(bean.getClass()) && !(bean instanceof Advised);
        }

        /** A subclass has neither final methods nor what another package does not show. */
        boolean cannotOverride(Method method) {
            int modifiers = method.getModifiers();
            boolean isVisible = Modifier.isPublic(modifiers)
                    || Modifier.isProtected(modifiers)
                    || method.getDeclaringClass()
                            .getPackage()
                            .equals(bean.getClass().getPackage());
            return AopUtils.isCglibProxy(bean) && (Modifier.isFinal(modifiers) || !isVisible);
        }
    }
}
