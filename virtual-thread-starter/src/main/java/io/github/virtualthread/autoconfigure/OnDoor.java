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
 * Whether web requests have a limit or a deadline, may ask for one, or end with their client, and the starter is on. Always
 * matches ahead of time: without its bean a limit would be silently absent.
 */
final class OnDoor implements Condition {

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        return PropertiesBinding.isAheadOfTime() || isOn(context.getEnvironment());
    }

    static boolean isOn(Environment environment) {
        return VirtualThreadBeanPostProcessor.isEnabled(environment)
                && (isBounded(environment) || cancelsAbandoned(environment));
    }

    /** Whether requests have a limit or a deadline, or may ask for one. */
    static boolean isBounded(Environment environment) {
        return isSet(environment, "virtual-thread.web.limit")
                || isSet(environment, "virtual-thread.web.deadline")
                || isSet(environment, "virtual-thread.web.deadline-header");
    }

    /** Whether the calls of a request end once its client has gone. */
    static boolean cancelsAbandoned(Environment environment) {
        return VirtualThreadBeanPostProcessor.read(
                environment, "virtual-thread.web.cancel-abandoned", Boolean.class, false);
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
