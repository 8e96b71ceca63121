package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.AsyncExecutors.Replaced;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.BeansException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;

/** Explains why an executor is not found any more by its class. Before Spring Boot's analyzers, which advise to declare another bean. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ReplacedExecutorFailureAnalyzer extends AbstractFailureAnalyzer<BeansException> {

    private final ConfigurableListableBeanFactory beans;

    ReplacedExecutorFailureAnalyzer(BeanFactory beans) {
        this.beans = (ConfigurableListableBeanFactory) beans;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BeansException cause) {
        NoSuchBeanDefinitionException missing = findCause(rootFailure, NoSuchBeanDefinitionException.class);
        BeanNotOfRequiredTypeException other = findCause(rootFailure, BeanNotOfRequiredTypeException.class);
        for (String bean : beans.getBeanDefinitionNames()) {
            if (beans.getBeanDefinition(bean).getAttribute(AsyncExecutors.REPLACED) instanceof Replaced replaced
                    && ((other != null && other.getBeanName().equals(bean)) || isWanted(missing, replaced.type()))) {
                return new FailureAnalysis(
                        "Bean '%s' was a %s until %s replaced it"
                                .formatted(bean, replaced.type().getSimpleName(), replaced.key()),
                        "Inject Executor or AsyncTaskExecutor, or remove the entry.",
                        cause);
            }
        }
        return null;
    }

    private static boolean isWanted(@Nullable NoSuchBeanDefinitionException missing, Class<?> replaced) {
        ResolvableType wanted = missing == null ? null : missing.getResolvableType();
        return wanted != null && wanted.isAssignableFrom(replaced);
    }
}
