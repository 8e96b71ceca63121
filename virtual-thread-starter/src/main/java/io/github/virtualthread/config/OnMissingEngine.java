package io.github.virtualthread.config;

import io.github.virtualthread.execution.TaskEngine;
import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** A child context uses the engine of its parent: two engines would be two limits of one name. */
final class OnMissingEngine implements ConfigurationCondition {

    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        ConfigurableListableBeanFactory beanFactory = context.getBeanFactory();
        return beanFactory == null
                || BeanFactoryUtils.beanNamesForTypeIncludingAncestors(beanFactory, TaskEngine.class, true, false)
                                .length
                        == 0;
    }
}
