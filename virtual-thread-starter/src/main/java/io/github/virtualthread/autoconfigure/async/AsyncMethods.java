package io.github.virtualthread.autoconfigure.async;

import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.execution.ExecutorView;
import io.github.virtualthread.execution.VirtualThreads;
import java.lang.reflect.Field;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.AbstractAdvisingBeanPostProcessor;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.scheduling.annotation.AnnotationAsyncExecutionInterceptor;
import org.springframework.scheduling.annotation.AsyncAnnotationAdvisor;
import org.springframework.scheduling.annotation.AsyncAnnotationBeanPostProcessor;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Replaces the advice of {@code @Async} methods by {@link AsyncCalls}, in Spring's post-processor before that makes proxies; in mode ASPECTJ,
 * gives the aspect its executor.
 */
final class AsyncMethods {

    /** What the post-processor puts into proxies. Spring shows it to subclasses only. */
    private static final Field ADVISOR =
            Objects.requireNonNull(ReflectionUtils.findField(AbstractAdvisingBeanPostProcessor.class, "advisor"));

    static {
        ReflectionUtils.makeAccessible(ADVISOR);
    }

    /** Which methods Spring runs asynchronously, empty if no class has {@code @EnableAsync}. */
    final Set<Pointcut> pointcuts = new LinkedHashSet<>();

    private final Supplier<@Nullable ExecutorView> common = SingletonSupplier.ofNullable(this::ofCommonLimit);
    private final BeanFactory beans;
    private final AsyncSettings settings;

    AsyncMethods(BeanFactory beans, AsyncSettings settings) {
        this.beans = beans;
        this.settings = settings;
    }

    private @Nullable ExecutorView ofCommonLimit() {
        String limit = settings.limit();
        if (limit == null) {
            return null;
        }
        return ExecutorView.of(beans.getBean(BeanNames.BY_HAND, VirtualThreads.class), "async", limit);
    }

    /** What takes the place of a bean that runs {@code @Async} methods: of any other one, the bean itself. */
    Object inPlaceOf(Object bean, String name) {
        if (bean instanceof AsyncAnnotationAdvisor advisor) {
            return inPlaceOf(advisor);
        }
        if (bean instanceof AsyncAnnotationBeanPostProcessor
                && ReflectionUtils.getField(ADVISOR, bean) instanceof AsyncAnnotationAdvisor advisor) {
            ReflectionUtils.setField(ADVISOR, bean, inPlaceOf(advisor));
        }
        if (name.equals(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME)
                && bean instanceof AsyncExecutionAspectSupport aspect
                && settings.enabled()) {
            ExecutorView ours = common.get();
            if (ours != null) {
                aspect.setExecutor(ours);
            }
        }
        return bean;
    }

    /** The advice of others, which may find its executors by rules of its own, stays. */
    private Advisor inPlaceOf(AsyncAnnotationAdvisor spring) {
        Pointcut pointcut = spring.getPointcut();
        pointcuts.add(pointcut);
        boolean isAsked = settings.enabled() && !settings.isEmpty();
        if (!isAsked || spring.getAdvice().getClass() != AnnotationAsyncExecutionInterceptor.class) {
            return spring;
        }
        Advice calls = calls((AnnotationAsyncExecutionInterceptor) spring.getAdvice());
        // of the type of Spring's, which others may look for
        return new AsyncAnnotationAdvisor() {
            @Override
            public Pointcut getPointcut() {
                return pointcut;
            }

            @Override
            public Advice getAdvice() {
                return calls;
            }
        };
    }

    /** The calls of methods that Spring's advice or aspect has. */
    AsyncCalls calls(AsyncExecutionAspectSupport spring) {
        return new AsyncCalls(spring, common, beans);
    }
}
