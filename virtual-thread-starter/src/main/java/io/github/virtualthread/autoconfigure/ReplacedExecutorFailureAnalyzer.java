package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.autoconfigure.AsyncExecutors.Replaced;
import io.github.virtualthread.mistake.Mistake;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;

/**
 * Explains why an executor is not found any more by its class. Before Spring Boot's analyzers, which advise to declare another
 * executor.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ReplacedExecutorFailureAnalyzer implements FailureAnalyzer {

    private final @Nullable BeanFactory beans;

    /**
     * Created by Spring Boot.
     *
     * @param beans beans of the application, null if it failed before it had a context
     */
    ReplacedExecutorFailureAnalyzer(@Nullable BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        if (!(beans instanceof ConfigurableListableBeanFactory known)) {
            return null;
        }
        for (Throwable each = failure; each != null; each = each.getCause()) {
            List<Mistake> mistakes = mistakes(each, known);
            if (!mistakes.isEmpty()) {
                return MistakesFailureAnalyzer.analysis(mistakes, each);
            }
        }
        return null;
    }

    private static List<Mistake> mistakes(Throwable cause, ConfigurableListableBeanFactory beans) {
        List<Mistake> mistakes = new ArrayList<>();
        for (String bean : beans.getBeanDefinitionNames()) {
            if (beans.getBeanDefinition(bean).getAttribute(AsyncExecutors.REPLACED) instanceof Replaced replaced
                    && isWanted(cause, bean, replaced.type())) {
                mistakes.add(new Mistake(
                        "Bean '%s' was a %s until %s replaced it"
                                .formatted(bean, replaced.type().getSimpleName(), replaced.key()),
                        "Inject Executor or AsyncTaskExecutor, or remove the entry."));
            }
        }
        return mistakes;
    }

    private static boolean isWanted(Throwable cause, String bean, Class<?> replaced) {
        if (cause instanceof NoSuchBeanDefinitionException missing) {
            ResolvableType wanted = missing.getResolvableType();
            return wanted != null && wanted.isAssignableFrom(replaced);
        }
        return cause instanceof BeanNotOfRequiredTypeException other
                && other.getBeanName().equals(bean);
    }
}
