package io.github.virtualthread.autoconfigure;

import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.autoconfigure.properties.PropertiesBinding;
import io.github.virtualthread.limit.LimitNames;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Whether web requests have a limit or a deadline, or may ask for one, and the starter is on. Always matches ahead of time: without
 * its bean a limit would be silently absent.
 */
final class OnDoor implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        return PropertiesBinding.isAheadOfTime() || isOn(context.getEnvironment());
    }

    static boolean isOn(Environment environment) {
        return VirtualThreadBeanPostProcessor.isEnabled(environment)
                && (isSet(environment, "virtual-thread.web.limit")
                        || isSet(environment, "virtual-thread.web.deadline")
                        || isSet(environment, "virtual-thread.web.deadline-header"));
    }

    private static boolean isSet(Environment environment, String key) {
        try {
            return limit(environment.getProperty(key)) != null;
        } catch (IllegalArgumentException unresolvable) {
            return true;
        }
    }

    /** Name of the limit, null for none. */
    static @Nullable String limit(@Nullable String name) {
        String stripped = name == null ? "" : name.strip();
        return stripped.isEmpty() || LimitNames.isNone(stripped) ? null : stripped;
    }
}
