package io.github.virtualthread.autoconfigure;

import static io.github.virtualthread.autoconfigure.StarterKeys.PREFIX;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.StringUtils;

/**
 * Finds keys that were meant for the starter but do not reach it as written: keys whose prefix is nearly that of the starter,
 * and names of limits with characters that Spring Boot drops.
 *
 * <p>A key under another prefix counts if it continues like a key of the starter, no class of the application binds it, and
 * no placeholder refers to it.
 */
final class StrayKeys {

    // not compiled here: most applications have no such keys
    private static final String NAME_OF_LIMIT = "(?i)virtual[-_]?thread\\.limits\\.([^.\\[]+).*";
    private static final String LIMITS_AT_THE_ROOT =
            "(?i)limits(\\.[^.\\[]+|\\[.+])\\.(cluster[-_]?)?permits([-_]?from)?";

    private static final String OURS = LimitNames.uniform(PREFIX.toString());

    private final ConfigurableListableBeanFactory beans;
    private final List<EnumerablePropertySource<?>> sources = new ArrayList<>();
    private final Set<String> limits;
    private final Map<String, Mistake> found = new LinkedHashMap<>(); // one for each prefix or name is enough

    /**
     * Creates the search.
     *
     * @param limits names of the limits that the properties declare
     */
    StrayKeys(ConfigurableListableBeanFactory beans, ConfigurableEnvironment environment, Set<String> limits) {
        this.beans = beans;
        this.limits = limits.stream().map(LimitNames::uniform).collect(Collectors.toSet());
        for (PropertySource<?> source : environment.getPropertySources()) {
            if (source instanceof EnumerablePropertySource<?> enumerable) {
                sources.add(enumerable);
            }
        }
    }

    List<Mistake> find() {
        for (EnumerablePropertySource<?> source : sources) {
            for (String key : source.getPropertyNames()) {
                if (source instanceof SystemEnvironmentPropertySource) {
                    checkVariable(source, key);
                } else {
                    checkKey(source, key);
                }
            }
        }
        return List.copyOf(found.values());
    }

    private void checkKey(PropertySource<?> source, String key) {
        if (StringUtils.startsWithIgnoreCase(key, "virtual")) {
            Matcher limit = Pattern.compile(NAME_OF_LIMIT).matcher(key);
            if (limit.matches()) {
                checkName(limit.group(1));
                return;
            }
        }
        String[] elements = elements(key, ".[");
        int end = prefix(elements);
        if (end > 0
                && end < elements.length
                && PropertyMistakes.component(VirtualThreadProperties.class, LimitNames.uniform(elements[end]))
                        != null) {
            String prefix = String.join(".", Arrays.copyOf(elements, end));
            add(source, key, prefix, PREFIX + key.substring(prefix.length()));
        } else if (StringUtils.startsWithIgnoreCase(key, "limits")
                && key.matches(LIMITS_AT_THE_ROOT)
                && hasNoLimits()) {
            add(source, key, "limits", PREFIX + "." + key);
        }
    }

    /** If there are limits, those at the root belong to somebody else, or the annotations that name them fail. */
    private boolean hasNoLimits() {
        return limits.isEmpty() && beans.getBeanNamesForType(LimitSettings.class, true, false).length == 0;
    }

    private void checkVariable(PropertySource<?> source, String key) {
        String[] elements = elements(key, "_.");
        int end = prefix(elements);
        if (end == 0) {
            return;
        }
        String rest = String.join("", Arrays.asList(elements).subList(end, elements.length));
        String meant = variable(rest.toLowerCase(Locale.ROOT));
        if (meant == null) {
            return;
        }
        String prefix = String.join("_", Arrays.copyOf(elements, end));
        // Spring Boot finds VIRTUAL_THREAD_X too, except for limits that no other source declares
        boolean isFound = prefix.equalsIgnoreCase("VIRTUAL_THREAD")
                && (!meant.startsWith("limits_") || limits.contains(meant.split("_")[1]));
        if (!isFound) {
            add(source, key, prefix, (OURS + "_" + meant).toUpperCase(Locale.ROOT));
        }
    }

    /** The variable that Spring Boot would find, in lower case; null if it is not a key of the starter. */
    private static @Nullable String variable(String rest) {
        String group = longest(VirtualThreadProperties.class, rest, String::startsWith);
        if (group == null) {
            return null;
        }
        String below = rest.substring(group.length());
        if (group.equals("cluster") && below.startsWith("jdbc")) {
            return "cluster_jdbc_" + below.substring("jdbc".length());
        }
        if (!group.equals("limits")) {
            return below.isEmpty() ? group : group + "_" + below;
        }
        String key = longest(VirtualThreadProperties.Limit.class, below, String::endsWith);
        if (key == null || key.equals(below)) {
            return null;
        }
        String name = below.substring(0, below.length() - key.length());
        return group + "_" + name + "_" + key;
    }

    private static @Nullable String longest(Class<?> type, String text, BiPredicate<String, String> has) {
        return PropertyMistakes.keys(type).stream()
                .map(LimitNames::uniform)
                .filter(key -> has.test(text, key))
                .max(Comparator.comparingInt(String::length))
                .orElse(null);
    }

    /** Those of a key whose first elements are nearly as long as our prefix. Most keys end here, and this look costs no object. */
    private static String[] elements(String key, String separators) {
        int length = 0;
        for (int i = 0; i < key.length(); i++) {
            char letter = key.charAt(i);
            if (separators.indexOf(letter) < 0) {
                length += letter == '-' || letter == '_' ? 0 : 1;
            } else if (i == "spring".length() && StringUtils.startsWithIgnoreCase(key, "spring")) {
                length = 0;
            } else if (isAsLong(length)) {
                return StringUtils.tokenizeToStringArray(key, separators);
            }
        }
        return new String[0];
    }

    private static boolean isAsLong(int length) {
        return Math.abs(length - OURS.length()) <= 1;
    }

    /** How many of the first elements are nearly our prefix; 0 if they are not, or are exactly our prefix. */
    private static int prefix(String[] elements) {
        int begin = elements.length > 0 && elements[0].equalsIgnoreCase("spring") ? 1 : 0;
        String joined = "";
        for (int i = begin; i < Math.min(elements.length, begin + 2); i++) {
            joined += LimitNames.uniform(elements[i]);
            if (i == 0 && joined.equals(OURS)) {
                return 0;
            }
            if (isAsLong(joined.length()) && Spelling.isNear(joined, OURS)) {
                return i + 1;
            }
        }
        return 0;
    }

    private void add(PropertySource<?> source, String key, String prefix, String meant) {
        if (found.containsKey(prefix) || isReferredTo(key) || isBoundByOthers(key)) {
            return;
        }
        String bootsOwn = LimitNames.uniform(meant).endsWith("enabled")
                ? " Spring Boot's own key is spring.threads.virtual.enabled."
                : "";
        found.put(
                prefix,
                new Mistake(
                        "%s is not a property of the virtual-thread starter (%s)"
                                .formatted(key, PropertySourceOrigin.get(source, key)),
                        "Did you mean %s? All keys of the starter begin with %s.%s"
                                .formatted(
                                        meant,
                                        meant.startsWith(PREFIX.toString()) ? PREFIX : "VIRTUALTHREAD",
                                        bootsOwn)));
    }

    private boolean isReferredTo(String key) {
        return sources.stream().anyMatch(source -> Arrays.stream(source.getPropertyNames())
                .map(source::getProperty)
                .map(String::valueOf)
                .anyMatch(value -> value.contains("${" + key + "}") || value.contains("${" + key + ":")));
    }

    private boolean isBoundByOthers(String key) {
        String squeezed = squeezed(key);
        return Arrays.stream(beans.getBeanDefinitionNames())
                .map(name -> beans.findAnnotationOnBean(name, ConfigurationProperties.class, false))
                .filter(bound -> bound != null)
                .map(bound -> squeezed(bound.prefix().isEmpty() ? bound.value() : bound.prefix()))
                .anyMatch(prefix -> !prefix.isEmpty() && !prefix.equals(OURS) && squeezed.startsWith(prefix));
    }

    private static String squeezed(String key) {
        return LimitNames.uniform(key).replaceAll("[.\\[\\]]", "");
    }

    private void checkName(String name) {
        if (!name.matches("[A-Za-z0-9_-]+")) {
            Mistake withoutBrackets = new Mistake(
                    "Limit '%s': outside brackets, Spring Boot keeps only letters a to z, digits and '-' of a name"
                            .formatted(name),
                    "Put the name in brackets and quotes: virtual-thread.limits.\"[%s]\".".formatted(name));
            found.put(name, LimitNames.isAllowed(name) ? withoutBrackets : wrong(name));
        }
    }

    /** Mistake for a name that no limit can have. */
    static Mistake wrong(String name) {
        String nearest = name.replaceAll("[^\\p{L}\\p{N}._-]+", "-").replaceAll("^-|-$", "");
        return new Mistake(
                "Limit '%s': %s, was '%s'".formatted(name, LimitNames.RULE, name),
                LimitNames.isAllowed(nearest)
                        ? "Name it %s, as in %s.".formatted(nearest, PropertyKeys.limit(nearest))
                        : "Use only these characters.");
    }
}
