package io.github.virtualthread.config;

import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.core.task.TaskDecorator;

/**
 * The decorators that an application has for its executors, in the order of Spring Boot's own. One of Spring's is left out: it
 * would set again what travels already, or what is not to travel.
 */
final class ApplicationDecorators {

    private static final String LEFT_OUT = "org.springframework.core.task.support.ContextPropagatingTaskDecorator";

    private ApplicationDecorators() {}

    static List<TaskDecorator> of(ObjectProvider<TaskDecorator> beans) {
        return beans.orderedStream()
                .filter(decorator -> isUsed(decorator.getClass()))
                .toList();
    }

    /** Their names, without creating any. */
    static List<String> names(ListableBeanFactory beanFactory) {
        return Stream.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(
                        beanFactory, TaskDecorator.class, true, false))
                .filter(name -> isUsed(beanFactory.getType(name, false)))
                .toList();
    }

    private static boolean isUsed(@Nullable Class<?> type) {
        return type == null || !type.getName().equals(LEFT_OUT);
    }
}
