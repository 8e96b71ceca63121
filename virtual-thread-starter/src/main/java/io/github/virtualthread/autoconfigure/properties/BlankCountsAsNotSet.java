package io.github.virtualthread.autoconfigure.properties;

import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.util.ObjectUtils;
import org.springframework.util.StringUtils;

/**
 * A blank value counts as not set, because a profile can blank a key of another file but not remove it. Spring Boot would
 * report a blank number as an unknown key. A blank value under a key that really is unknown stays a mistake. Affects the
 * properties of the starter only.
 */
final class BlankCountsAsNotSet extends AbstractBindHandler {

    BlankCountsAsNotSet(BindHandler handler) {
        super(handler);
    }

    @Override
    public void onFinish(
            ConfigurationPropertyName name, Bindable<?> target, BindContext context, @Nullable Object result)
            throws Exception {
        try {
            super.onFinish(name, target, context, result);
        } catch (UnboundConfigurationPropertiesException unbound) {
            if (!StarterKeys.PREFIX.equals(name)) {
                throw unbound;
            }
            Set<ConfigurationProperty> unknown = new LinkedHashSet<>(unbound.getUnboundProperties());
            unknown.removeIf(property -> isBlank(property.getValue()) && PropertyMistakes.isKnown(property.getName()));
            if (!unknown.isEmpty()) {
                throw new UnboundConfigurationPropertiesException(unknown);
            }
        }
    }

    /** A text; null if it is blank, because Spring Boot binds a blank text as it is. */
    static @Nullable String text(@Nullable String value) {
        return StringUtils.hasText(value) ? value.strip() : null;
    }

    private static boolean isBlank(Object value) {
        return ObjectUtils.isEmpty(value) || value.toString().isBlank();
    }
}
