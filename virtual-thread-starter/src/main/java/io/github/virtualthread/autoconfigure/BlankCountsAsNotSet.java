package io.github.virtualthread.autoconfigure;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.util.ObjectUtils;

/**
 * A blank value counts as not set: a profile can blank a key of another file, but not remove it. Spring Boot would call a
 * blank number an unknown key. Only our own properties are looked at.
 */
final class BlankCountsAsNotSet implements ConfigurationPropertiesBindHandlerAdvisor {

    @Override
    public BindHandler apply(BindHandler handler) {
        return new AbstractBindHandler(handler) {

            @Override
            public void onFinish(
                    ConfigurationPropertyName name, Bindable<?> target, BindContext context, @Nullable Object result)
                    throws Exception {
                try {
                    super.onFinish(name, target, context, result);
                } catch (UnboundConfigurationPropertiesException unbound) {
                    if (!PropertiesBinding.PREFIX.equals(name) || !allBlank(unbound)) {
                        throw unbound;
                    }
                }
            }
        };
    }

    private static boolean allBlank(UnboundConfigurationPropertiesException unbound) {
        return unbound.getUnboundProperties().stream()
                .map(ConfigurationProperty::getValue)
                .allMatch(
                        value -> ObjectUtils.isEmpty(value) || value.toString().isBlank());
    }
}
