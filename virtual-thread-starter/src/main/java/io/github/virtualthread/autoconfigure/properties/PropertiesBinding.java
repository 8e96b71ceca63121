package io.github.virtualthread.autoconfigure.properties;

import static io.github.virtualthread.autoconfigure.properties.StarterKeys.LIMITS;
import static io.github.virtualthread.autoconfigure.properties.StarterKeys.PREFIX;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.mistake.Mistake;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.PlaceholdersResolver;
import org.springframework.boot.context.properties.bind.PropertySourcesPlaceholdersResolver;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.IgnoreTopLevelConverterNotFoundBindHandler;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName.Form;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.ConfigurationPropertyState;
import org.springframework.boot.context.properties.source.UnboundElementsSourceFilter;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.context.aot.AbstractAotProcessor;
import org.springframework.core.convert.ConverterNotFoundException;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.PropertySource;

/**
 * The properties as Spring Boot binds them, and all mistakes in them, in our own words. Spring Boot itself stops at the first
 * mistake.
 *
 * @param properties what could be bound; complete if there are no mistakes; null if no key is set
 * @param mistakes unknown keys, values of another type, durations without a unit
 * @param read what the values were read from: keys and environment variables as they are written
 */
@Internal
public record PropertiesBinding(
        @Nullable VirtualThreadProperties properties, List<Mistake> mistakes, Set<String> read) {

    /**
     * Binds what sources have.
     *
     * @param sources the one that counts first
     * @return properties and mistakes
     */
    public static PropertiesBinding of(Iterable<PropertySource<?>> sources) {
        if (!isAnySet(sources, PREFIX)) {
            return new PropertiesBinding(null, List.of(), Set.of());
        }
        PlaceholdersResolver placeholders = new PropertySourcesPlaceholdersResolver(sources);
        Collector collector = new Collector(placeholders);
        Bindable<VirtualThreadProperties> target = Bindable.of(VirtualThreadProperties.class);
        VirtualThreadProperties bound = new Binder(ConfigurationPropertySources.from(sources), placeholders)
                .bindOrCreate(PREFIX, target, collector);
        return new PropertiesBinding(bound, List.copyOf(collector.found), Set.copyOf(collector.read));
    }

    /**
     * Whether a key of the starter may be set: a source that cannot list its keys may have one.
     *
     * @param sources sources of properties
     * @return false if no key of the starter is set
     */
    public static boolean isAnySet(Iterable<PropertySource<?>> sources) {
        return isAnySet(sources, PREFIX);
    }

    /**
     * Whether a key in a part of the properties may be set.
     *
     * @param sources sources of properties
     * @param part name of the part, such as {@code async}
     * @return false if no key of the part is set
     */
    public static boolean isAnySet(Iterable<PropertySource<?>> sources, String part) {
        return isAnySet(sources, PREFIX.append(part));
    }

    private static boolean isAnySet(Iterable<PropertySource<?>> sources, ConfigurationPropertyName key) {
        for (ConfigurationPropertySource source : adapters(sources)) {
            if (source.containsDescendantOf(key) != ConfigurationPropertyState.ABSENT
                    || source.getConfigurationProperty(key) != null) {
                return true;
            }
        }
        return false;
    }

    /** Those that Spring Boot has attached to an environment have read all its keys already; new ones would do so again. */
    @SuppressWarnings("unchecked")
    private static Iterable<ConfigurationPropertySource> adapters(Iterable<PropertySource<?>> sources) {
        List<ConfigurationPropertySource> adapters = new ArrayList<>();
        for (PropertySource<?> source : sources) {
            if (ConfigurationPropertySources.isAttachedConfigurationPropertySource(source)) {
                return (Iterable<ConfigurationPropertySource>) source.getSource();
            }
            if (source.getSource() instanceof ConfigurableEnvironment environment) { // that of a placeholder configurer
                adapters(environment.getPropertySources()).forEach(adapters::add);
            } else {
                adapters.add(ConfigurationPropertySource.from(source));
            }
        }
        return adapters;
    }

    /**
     * Whether Spring processes the application ahead of time. What is decided then must not depend on its properties: those that
     * count are those of the start.
     *
     * @return false at the start
     */
    public static boolean isAheadOfTime() {
        return Boolean.getBoolean(AbstractAotProcessor.AOT_PROCESSING);
    }

    /** File and line, or environment variable, that a key as messages show it comes from; empty if no source has it. */
    static String place(String key, Iterable<PropertySource<?>> sources) {
        return PropertyMistakes.origin(property(
                ConfigurationPropertyName.adapt(key.replace("\"", ""), '.'),
                ConfigurationPropertySources.from(sources)));
    }

    private static @Nullable ConfigurationProperty property(
            ConfigurationPropertyName name, Iterable<ConfigurationPropertySource> sources) {
        for (ConfigurationPropertySource source : sources) {
            ConfigurationProperty property = source.getConfigurationProperty(name);
            if (property != null) {
                return property;
            }
        }
        return null;
    }

    /** As strict as Spring Boot, but continues after a mistake. */
    private static final class Collector extends AbstractBindHandler {

        private final PlaceholdersResolver placeholders;
        private final Set<Mistake> found = new LinkedHashSet<>(); // an entry of a map may be bound twice
        private final Set<ConfigurationPropertyName> failed = new HashSet<>();
        private final Set<String> read = new HashSet<>();

        Collector(PlaceholdersResolver placeholders) {
            super(new BlankCountsAsNotSet(new NoUnboundElementsBindHandler(
                    new IgnoreTopLevelConverterNotFoundBindHandler(), new UnboundElementsSourceFilter())));
            this.placeholders = placeholders;
        }

        @Override
        public Object onSuccess(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
            ConfigurationProperty property = context.getConfigurationProperty();
            if (property != null && property.getOrigin() instanceof PropertySourceOrigin origin) {
                read.add(origin.getPropertyName());
            }
            if (isOfList(name) && name.getLastElement(Form.UNIFORM).equals("0")) {
                found.add(PropertyMistakes.LIST);
            }
            if (result instanceof Duration && property != null) {
                String value = String.valueOf(placeholders.resolvePlaceholders(property.getValue()));
                if (!Durations.hasUnit(value)) {
                    found.add(PropertyMistakes.withoutUnit(name, property, value));
                }
            }
            return super.onSuccess(name, target, context, result);
        }

        @Override
        public @Nullable Object onFailure(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, Exception error)
                throws Exception {
            if (context.getDepth() == 0 && error instanceof ConverterNotFoundException) {
                return super.onFailure(name, target, context, error);
            }
            failed.add(name);
            // once Spring Boot has tried to bind keys below the name, the context has lost its value
            ConfigurationProperty property = property(name, context.getSources());
            if (isOfList(name)) {
                found.add(PropertyMistakes.LIST);
            } else {
                found.add(PropertyMistakes.wrongValue(name, target, property, error));
            }
            return null;
        }

        @Override
        public void onFinish(
                ConfigurationPropertyName name, Bindable<?> target, BindContext context, @Nullable Object result)
                throws Exception {
            try {
                super.onFinish(name, target, context, result);
            } catch (UnboundConfigurationPropertiesException unbound) {
                for (ConfigurationProperty property : unbound.getUnboundProperties()) {
                    if (!failed.contains(property.getName())) {
                        boolean isOfList = isOfList(property.getName());
                        found.add(isOfList ? PropertyMistakes.LIST : PropertyMistakes.unknownKey(property));
                    }
                }
            }
        }

        private static boolean isOfList(ConfigurationPropertyName name) {
            return LIMITS.isAncestorOf(name) && name.isNumericIndex(LIMITS.getNumberOfElements());
        }
    }
}
