package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.config.BeanNames;
import io.github.virtualthread.execution.ExecutorView;
import io.github.virtualthread.execution.VirtualThreads;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.annotation.RegisterReflection;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.scheduling.annotation.AnnotationAsyncExecutionInterceptor;
import org.springframework.scheduling.annotation.AsyncAnnotationAdvisor;
import org.springframework.scheduling.config.TaskManagementConfigUtils;
import org.springframework.util.function.SingletonSupplier;

/**
 * Replaces the advice of {@code @Async} methods by {@link AsyncCalls}; in mode ASPECTJ, gives the aspect its executor. Has no order,
 * so that it comes after Spring's post-processor. Is no bean that Spring would look up advisors for, which would create those early.
 */
@RegisterReflection(
        classes = AsyncExecutionAspectSupport.class,
        memberCategories = {MemberCategory.INVOKE_DECLARED_METHODS, MemberCategory.DECLARED_FIELDS})
final class AsyncMethods implements BeanPostProcessor, AopInfrastructureBean {

    private final AsyncSettings settings;
    private final BeanFactory beans;
    private final Supplier<@Nullable ExecutorView> common;
    private final Map<Advisor, Advisor> replaced = new ConcurrentHashMap<>();

    AsyncMethods(AsyncSettings settings, BeanFactory beans) {
        this.settings = settings;
        this.beans = beans;
        this.common = SingletonSupplier.ofNullable(this::ofCommonLimit);
    }

    private @Nullable ExecutorView ofCommonLimit() {
        return settings.limit() == null
                ? null
                : ExecutorView.of(beans.getBean(BeanNames.BY_HAND, VirtualThreads.class), "async", settings.limit());
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (settings.isEmpty() || !settings.enabled()) {
            return bean;
        }
        if (name.equals(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME)
                && bean instanceof AsyncExecutionAspectSupport aspect) {
            ExecutorView ours = common.get();
            if (ours != null) {
                aspect.setExecutor(ours);
            }
        }
        // a proxy may stand before another one, each made by a creator of its own
        for (Object each = bean; each instanceof Advised proxy; each = AopProxyUtils.getSingletonTarget(each)) {
            replaceIn(proxy);
        }
        return bean;
    }

    private void replaceIn(Advised proxy) {
        if (proxy.isFrozen()) {
            return;
        }
        for (Advisor advisor : proxy.getAdvisors()) {
            if (advisor instanceof AsyncAnnotationAdvisor spring
                    && spring.getAdvice() instanceof AnnotationAsyncExecutionInterceptor advice
                    && !(advice instanceof AsyncCalls)) {
                proxy.replaceAdvisor(
                        spring,
                        replaced.computeIfAbsent(
                                spring, known -> new CallsAdvisor(spring.getPointcut(), calls(advice))));
            }
        }
    }

    /** The calls of methods that Spring's advice or aspect has. */
    AsyncCalls calls(AsyncExecutionAspectSupport spring) {
        return new AsyncCalls(spring, common, beans);
    }

    /** Of the type of Spring's advisor, which others may look for. */
    private static final class CallsAdvisor extends AsyncAnnotationAdvisor {

        private final Pointcut pointcut;
        private final Advice calls;

        CallsAdvisor(Pointcut pointcut, Advice calls) {
            this.pointcut = pointcut;
            this.calls = calls;
        }

        @Override
        public Pointcut getPointcut() {
            return pointcut;
        }

        @Override
        public Advice getAdvice() {
            return calls;
        }
    }
}
