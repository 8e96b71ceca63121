package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.execution.ExecutorView;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.aopalliance.aop.Advice;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.interceptor.AsyncExecutionAspectSupport;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.scheduling.annotation.AsyncAnnotationAdvisor;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.config.TaskManagementConfigUtils;

/**
 * Replaces the advice of {@code @Async} methods by {@link AsyncCalls}; in mode ASPECTJ, gives the aspect its executor. Has no order,
 * so that it comes after Spring's post-processor.
 */
final class AsyncMethods implements BeanPostProcessor {

    private final BeanFactory beans;
    private final Map<Advisor, Advisor> replaced = new ConcurrentHashMap<>();

    AsyncMethods(BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String name) {
        if (bean instanceof Advised advised && !advised.isFrozen()) {
            for (Advisor advisor : advised.getAdvisors()) {
                if (advisor instanceof AsyncAnnotationAdvisor spring && !(spring instanceof CallsAdvisor)) {
                    advised.replaceAdvisor(spring, replaced.computeIfAbsent(spring, known -> calls(spring)));
                }
            }
        } else if (name.equals(TaskManagementConfigUtils.ASYNC_EXECUTION_ASPECT_BEAN_NAME)
                && bean instanceof AsyncExecutionAspectSupport aspect
                && ofSpringBoot() != null) {
            aspect.configure(this::executor, this::handler);
        }
        return bean;
    }

    private Advisor calls(AsyncAnnotationAdvisor spring) {
        AsyncCalls calls = new AsyncCalls((MethodInterceptor) spring.getAdvice(), this::handler);
        calls.configure(this::executor, null);
        calls.setBeanFactory(beans);
        return new CallsAdvisor(spring.getPointcut(), calls);
    }

    /** The executor of Spring Boot, if it is that of a limit. */
    private @Nullable Executor ofSpringBoot() {
        return beans.containsBean(AsyncExecutors.APPLICATION)
                        && beans.getBean(AsyncExecutors.APPLICATION) instanceof ExecutorView ours
                ? ours
                : null;
    }

    /** The executor of methods that name none; null if Spring is to look for one. */
    private @Nullable Executor executor() {
        Executor ours = ofSpringBoot();
        AsyncConfigurer configurer = ours == null ? configurer() : null;
        return configurer == null ? ours : configurer.getAsyncExecutor();
    }

    private AsyncUncaughtExceptionHandler handler() {
        AsyncConfigurer configurer = configurer();
        AsyncUncaughtExceptionHandler given = configurer == null ? null : configurer.getAsyncUncaughtExceptionHandler();
        return given == null ? new SimpleAsyncUncaughtExceptionHandler() : given;
    }

    private @Nullable AsyncConfigurer configurer() {
        return beans.getBeanProvider(AsyncConfigurer.class).getIfUnique();
    }

    /** Of the type of Spring's advisor, which others may look for. */
    @SuppressWarnings("serial")
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
