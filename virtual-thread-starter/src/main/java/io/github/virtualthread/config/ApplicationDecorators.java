package io.github.virtualthread.config;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.core.task.TaskDecorator;

/**
 * The task decorators of the context that has the engine, in the order in which Spring Boot applies them. Spring's decorator
 * for context propagation is left out: it would set what the engine has propagated already, or what must not be propagated.
 */
record ApplicationDecorators(ObjectProvider<TaskDecorator> beans, ConfigurableListableBeanFactory beanFactory) {

    private static final String LEFT_OUT = "org.springframework.core.task.support.ContextPropagatingTaskDecorator";

    /** All decorators that are put around bodies. */
    List<TaskDecorator> all() {
        return beans.orderedStream()
                .filter(decorator -> isUsed(decorator.getClass()))
                .toList();
    }

    /** Their names, without creating any. */
    List<String> names() {
        return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                        beanFactory, TaskDecorator.class, true, false))
                .filter(name -> isUsed(beanFactory.getType(name, false)) && isCandidate(name))
                .toList();
    }

    private static boolean isUsed(@Nullable Class<?> type) {
        return type == null || !type.getName().equals(LEFT_OUT);
    }

    /** Whether the bean is injected by type. A bean without a definition, registered as an object, always is. */
    private boolean isCandidate(String name) {
        return !beanFactory.containsBeanDefinition(name)
                || !(beanFactory.getMergedBeanDefinition(name) instanceof AbstractBeanDefinition definition)
                || (definition.isAutowireCandidate() && definition.isDefaultCandidate());
    }
}
