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
 * The decorators that an application has for its executors, in the order of Spring Boot's own: those of the context that has
 * the engine. One of Spring's is left out: it would set again what travels already, or what is not to travel.
 */
final class ApplicationDecorators {

    private static final String LEFT_OUT = "org.springframework.core.task.support.ContextPropagatingTaskDecorator";

    private final ObjectProvider<TaskDecorator> beans;
    private final ConfigurableListableBeanFactory beanFactory;

    /** Decorators of one factory, none of them created. */
    ApplicationDecorators(ObjectProvider<TaskDecorator> beans, ConfigurableListableBeanFactory beanFactory) {
        this.beans = beans;
        this.beanFactory = beanFactory;
    }

    /** All that are put around bodies. */
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

    /** Whether it is among those that are injected by type; a ready object is, and has no definition. */
    private boolean isCandidate(String name) {
        return !beanFactory.containsBeanDefinition(name)
                || !(beanFactory.getMergedBeanDefinition(name) instanceof AbstractBeanDefinition definition)
                || (definition.isAutowireCandidate() && definition.isDefaultCandidate());
    }
}
