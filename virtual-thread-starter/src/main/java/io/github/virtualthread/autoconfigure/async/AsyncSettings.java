package io.github.virtualthread.autoconfigure.async;

import io.github.virtualthread.Internal;
import io.github.virtualthread.aop.VirtualThreadBeanPostProcessor;
import io.github.virtualthread.autoconfigure.properties.PropertiesBinding;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties;
import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Async;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Condition;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;
import org.springframework.core.env.MutablePropertySources;
import org.springframework.core.type.AnnotatedTypeMetadata;
import org.springframework.util.StringUtils;

/**
 * What {@code virtual-thread.async} asks for; blank values ask for nothing.
 *
 * @param limit name of the limit of methods that name no executor, null for none
 * @param executors names of limits by the names of executor beans, as they are written
 * @param enabled whether calls are intercepted at all
 */
@Internal
public record AsyncSettings(@Nullable String limit, Map<String, String> executors, boolean enabled) {

    static final String LIMIT = "virtual-thread.async.limit";

    /** The name of an executor follows. */
    static final String EXECUTORS = "virtual-thread.async.executors.";

    /** The executor of Spring Boot. */
    public static final String APPLICATION = "applicationTaskExecutor";

    static AsyncSettings of(Environment environment) {
        MutablePropertySources sources = ((ConfigurableEnvironment) environment).getPropertySources();
        VirtualThreadProperties properties = null;
        if (PropertiesBinding.isAnySet(sources, "async")) {
            properties = PropertiesBinding.of(sources).properties();
        }
        Async async = properties == null ? new Async(null, Map.of()) : properties.async();
        Map<String, String> executors = new LinkedHashMap<>(async.executors());
        executors.values().removeIf(limit -> !StringUtils.hasText(limit));
        return new AsyncSettings(
                StringUtils.hasText(async.limit()) ? async.limit() : null,
                executors,
                VirtualThreadBeanPostProcessor.isEnabled(environment));
    }

    boolean isEmpty() {
        return limit == null && executors.isEmpty();
    }

    /** Whether something is asked for, or may be at the start. */
    public static final class AreSet implements Condition {

        /** Created by Spring. */
        public AreSet() {}

        @Override
        public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
            return PropertiesBinding.isAheadOfTime()
                    || !of(context.getEnvironment()).isEmpty();
        }
    }
}
