package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.execution.ExecutorView;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.annotation.RegisterReflection;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.scheduling.annotation.AnnotationAsyncExecutionInterceptor;
import org.springframework.scheduling.annotation.AsyncAnnotationAdvisor;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.config.TaskManagementConfigUtils;

/**
 * Replaces the advice of {@code @Async} methods by {@link AsyncCalls}; in mode ASPECTJ, gives the aspect its executor. Has no order,
 * so that it comes after Spring's post-processor. Is no bean that Spring would look up advisors for, which would create those early.
 */
@RegisterReflection(
        classes = AsyncExecutionAspectSupport.class,
        memberCategories = MemberCategory.INVOKE_DECLARED_METHODS)
final class AsyncMethods implements BeanPostProcessor, AopInfrastructureBean {

    private final BeanFactory beans;
    private final Map<Advisor, Advisor> replaced = new ConcurrentHashMap<>();

    AsyncMethods(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof Advised advised && !advised.isFrozen()) {
            for (Advisor advisor : advised.getAdvisors()) {
                if (advisor instanceof AsyncAnnotationAdvisor spring
                        && spring.getAdvice() instanceof AnnotationAsyncExecutionInterceptor advice
                        && !(advice instanceof AsyncCalls)) {
                    advised.replaceAdvisor(
                            spring,
                            replaced.computeIfAbsent(
                                    spring, known -> new CallsAdvisor(spring.getPointcut(), calls(advice))));
                }
            }
        } else if (name.equals(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME)
                && bean instanceof AsyncExecutionAspectSupport aspect) {
            Executor ours = ofSpringBoot();
            if (ours != null) {
                aspect.setExecutor(ours);
            }
        }
        return bean;
    }

    private AsyncCalls calls(AnnotationAsyncExecutionInterceptor spring) {
        AsyncCalls calls = new AsyncCalls(spring);
        calls.configure(this::executor, null);
        calls.setBeanFactory(beans);
        return calls;
    }

    /** The executor of Spring Boot, if it is that of a limit. */
    private @Nullable Executor ofSpringBoot() {
        if (beans.containsBean(AsyncNames.APPLICATION)
                && beans.getBean(AsyncNames.APPLICATION) instanceof ExecutorView ours) {
            return ours;
        }
        return null;
    }

    /** The executor of methods that name none; null if Spring is to look for one. */
    private @Nullable Executor executor() {
        Executor ours = ofSpringBoot();
        if (ours != null) {
            return ours;
        }
        AsyncConfigurer configurer =
                beans.getBeanProvider(AsyncConfigurer.class).getIfUnique();
        return configurer == null ? null : configurer.getAsyncExecutor();
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
