package io.github.virtualthread.autoconfigure;

import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/** Whether a key below {@code virtual-thread.async} may be set. */
final class OnAsync implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        return context.getEnvironment() instanceof ConfigurableEnvironment environment
                && PropertiesBinding.isAnySet(environment.getPropertySources(), StarterKeys.PREFIX.append("async"));
    }
}
