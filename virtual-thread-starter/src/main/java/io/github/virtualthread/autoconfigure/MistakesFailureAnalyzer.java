package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.aop.Contradiction;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.Order;

/**
 * Shows all mistakes of an application in one report, numbered if there is more than one; or explains why an executor is not found
 * any more by its class. Before Spring Boot's analyzers, which advise to declare another executor.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class MistakesFailureAnalyzer implements FailureAnalyzer {

    private final @Nullable BeanFactory beans;

    /**
     * Created by Spring Boot.
     *
     * @param beans beans of the application, null if it failed before it had a context
     */
    MistakesFailureAnalyzer(@Nullable BeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable each = failure; each != null; each = each.getCause()) {
            List<Mistake> mistakes = mistakes(each, failure);
            if (!mistakes.isEmpty()) {
                return new FailureAnalysis(list(mistakes, Mistake::description), list(mistakes, Mistake::action), each);
            }
        }
        return null;
    }

    private List<Mistake> mistakes(Throwable cause, Throwable failure) {
        if (cause instanceof VirtualThreadConfigurationException ours) {
            return ours.mistakes();
        }
        return cause instanceof AnnotationConfigurationException read
                ? Stream.ofNullable(Contradiction.inScannedClass(read, failure)).toList()
                : replaced(cause);
    }

    private List<Mistake> replaced(Throwable cause) {
        List<Mistake> replaced = new ArrayList<>();
        if (beans instanceof ConfigurableListableBeanFactory known) {
            for (String bean : known.getBeanDefinitionNames()) {
                BeanDefinition definition = known.getBeanDefinition(bean);
                if (definition.getAttribute(AsyncExecutors.REPLACED) instanceof Class<?> type
                        && isWanted(cause, bean, type)) {
                    Object by = definition.getAttribute(AsyncExecutors.REPLACED_BY);
                    replaced.add(new Mistake(
                            "Bean '%s' was a %s until %s replaced it".formatted(bean, type.getSimpleName(), by),
                            "Inject Executor or AsyncTaskExecutor, or remove the entry."));
                }
            }
        }
        return replaced;
    }

    private static boolean isWanted(Throwable cause, String bean, Class<?> replaced) {
        if (cause instanceof NoSuchBeanDefinitionException missing) {
            ResolvableType wanted = missing.getResolvableType();
            return wanted != null && wanted.isAssignableFrom(replaced);
        }
        return cause instanceof BeanNotOfRequiredTypeException other
                && other.getBeanName().equals(bean);
    }

    private static String list(List<Mistake> mistakes, Function<Mistake, String> part) {
        if (mistakes.size() == 1) {
            return part.apply(mistakes.get(0));
        }
        String list = "";
        for (int i = 0; i < mistakes.size(); i++) {
            list += "%n%d. %s".formatted(i + 1, part.apply(mistakes.get(i)));
        }
        return list;
    }
}
