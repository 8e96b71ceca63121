package io.github.virtualthread.autoconfigure.properties;

import static io.github.virtualthread.autoconfigure.properties.StarterKeys.LIMITS;
import static io.github.virtualthread.autoconfigure.properties.StarterKeys.METHODS;
import static io.github.virtualthread.autoconfigure.properties.StarterKeys.PREFIX;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.origin.PropertySourceOrigin;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.util.StringUtils;

/**
 * Finds keys that were meant for the starter but do not reach it as written: keys whose prefix is nearly that of the starter,
 * environment variables that match no key, and names of limits with characters that Spring Boot drops.
 *
 * <p>Other programs may use a similar prefix. So a key under one is a mistake only if it continues like a property of a limit or a
 * method. Any other property is only ignored, which is worth a warning if the application has properties of the starter.
 */
final class StrayKeys {

    // not compiled here: most applications have no such keys
    private static final String NAME_OF_LIMIT = "(?i)virtual[-_]?thread\\.limits\\.([^.\\[]+).*";

    private static final String OURS = LimitNames.uniform(PREFIX.toString());
    private static final String VARIABLE = "VIRTUALTHREAD_";
    private static final String LIMIT_VARIABLE = VARIABLE + "LIMITS_";

    private final PropertiesBinding binding;
    private final Set<String> limits;
    private final Map<String, Mistake> mistakes = new LinkedHashMap<>(); // one for each prefix or name is enough
    private final List<String> ignored = new ArrayList<>();

    private StrayKeys(PropertiesBinding binding) {
        VirtualThreadProperties properties = binding.properties();
        this.binding = binding;
        if (properties == null) {
            limits = Set.of();
        } else {
            limits = properties.limits().keySet().stream()
                    .map(LimitNames::uniform)
                    .collect(Collectors.toSet());
        }
    }

    static StrayKeys in(ConfigurableEnvironment environment, PropertiesBinding binding) {
        StrayKeys stray = new StrayKeys(binding);
        for (PropertySource<?> source : environment.getPropertySources()) {
            if (source instanceof EnumerablePropertySource<?> enumerable) {
                for (String key : enumerable.getPropertyNames()) {
                    if (source instanceof SystemEnvironmentPropertySource) {
                        stray.checkVariable(source, key);
                    } else {
                        stray.checkKey(source, key);
                    }
                }
            }
        }
        return stray;
    }

    List<Mistake> mistakes() {
        return List.copyOf(mistakes.values());
    }

    /** What has no effect, each with what was probably meant. */
    List<String> ignored() {
        return ignored;
    }

    private void checkKey(PropertySource<?> source, String key) {
        if (StringUtils.startsWithIgnoreCase(key, "virtual")) {
            Matcher limit = Pattern.compile(NAME_OF_LIMIT).matcher(key);
            if (limit.matches()) {
                checkName(limit.group(1));
                return;
            }
        }
        int end = prefix(key, ".[");
        if (end > 0) {
            String meant = PREFIX + key.substring(end);
            ConfigurationPropertyName name = ConfigurationPropertyName.adapt(meant, '.');
            if (PropertyMistakes.isValue(name)) {
                add(source, key, end, meant, LIMITS.isAncestorOf(name) || METHODS.isAncestorOf(name));
            }
        }
    }

    private void checkVariable(PropertySource<?> source, String key) {
        if (binding.read().contains(key)) {
            return;
        }
        if (StringUtils.startsWithIgnoreCase(key, LIMIT_VARIABLE)) {
            checkLimit(key);
            return;
        }
        boolean isOurs = StringUtils.startsWithIgnoreCase(key, VARIABLE);
        int end = isOurs ? VARIABLE.length() - 1 : prefix(key, "_.");
        String meant = end == 0 ? null : meant(key.substring(end + 1));
        if (meant == null || meant.equalsIgnoreCase(key)) {
            return; // of others, or overridden by another source
        }
        boolean isOfLimit = meant.startsWith(LIMIT_VARIABLE);
        // Spring Boot finds VIRTUAL_THREAD_X too, except for limits that no other source declares
        boolean mayBeFound = key.substring(0, end).equalsIgnoreCase("VIRTUAL_THREAD")
                && (!isOfLimit || limits.contains(LimitNames.uniform(meant.split("_")[2])));
        if (isOfLimit || !mayBeFound) {
            add(source, key, end, meant, isOfLimit && !mayBeFound);
        }
    }

    /**
     * Spring Boot finds {@code MAX_WAIT} instead of {@code MAXWAIT} too, but only as long as no source of higher precedence has a
     * property of that limit.
     */
    private void checkLimit(String key) {
        if (PropertyMistakes.isKnown(ConfigurationPropertyName.adapt(key, '_'))) {
            return; // another source overrides it
        }
        for (int end = key.lastIndexOf('_'); end > LIMIT_VARIABLE.length(); end = key.lastIndexOf('_', end - 1)) {
            if (limits.contains(LimitNames.uniform(key.substring(LIMIT_VARIABLE.length(), end)))) {
                List<String> known = values(VirtualThreadProperties.Limit.class).toList();
                String limit = LIMIT_VARIABLE + joined(key.substring(LIMIT_VARIABLE.length(), end));
                Spelling.nearest(key.substring(end + 1), known)
                        .ifPresentOrElse(
                                nearest -> ignore(key, limit + "_" + nearest),
                                () -> ignored.add("%s (a limit has %s)".formatted(key, known)));
                return;
            }
        }
    }

    /** The variable that Spring Boot would find; null if it is not a key of the starter. */
    private static @Nullable String meant(String rest) {
        String joined = joined(rest);
        if (!joined.startsWith("LIMITS")) {
            return values(VirtualThreadProperties.class)
                    .filter(value -> joined(value).equals(joined))
                    .findAny()
                    .map(value -> VARIABLE + value)
                    .orElse(null);
        }
        String below = joined.substring("LIMITS".length());
        return values(VirtualThreadProperties.Limit.class)
                .filter(value -> below.endsWith(joined(value)) && !below.equals(joined(value)))
                .max(Comparator.comparingInt(String::length))
                .map(value -> LIMIT_VARIABLE
                        + below.substring(0, below.length() - joined(value).length()) + "_" + value)
                .orElse(null);
    }

    private static String joined(String variable) {
        return LimitNames.uniform(variable.replace(".", "")).toUpperCase(Locale.ROOT);
    }

    /** The ends of variables for the values below a record, except those below which users choose names. */
    private static Stream<String> values(Class<?> type) {
        return Stream.of(type.getRecordComponents())
                .filter(component -> component.getType() != Map.class)
                .flatMap(component -> {
                    String name = component.getName().toUpperCase(Locale.ROOT);
                    Class<?> below = component.getType();
                    return below.isRecord() ? values(below).map(value -> name + "_" + value) : Stream.of(name);
                });
    }

    /**
     * Where the first one or two elements end that are nearly our prefix; 0 if they are not, or are exactly our prefix. The look at
     * most keys costs no object.
     */
    private static int prefix(String key, String separators) {
        int begin = 0;
        if (key.length() > 6 && separators.indexOf(key.charAt(6)) >= 0 && key.regionMatches(true, 0, "spring", 0, 6)) {
            begin = 7;
        }
        int elements = 0;
        int length = 0;
        for (int i = begin; i < key.length() && elements < 2; i++) {
            char letter = key.charAt(i);
            if (separators.indexOf(letter) < 0) {
                length += letter == '-' || letter == '_' ? 0 : 1;
                continue;
            }
            elements++;
            if (Math.abs(length - OURS.length()) <= 1) {
                String prefix = LimitNames.uniform(key.substring(begin, i).replace(".", ""));
                if (Spelling.isNear(prefix, OURS)) {
                    return begin == 0 && elements == 1 && prefix.equals(OURS) ? 0 : i;
                }
            }
        }
        return 0;
    }

    private void add(PropertySource<?> source, String key, int end, String meant, boolean isMistake) {
        if (isMistake) {
            mistakes.computeIfAbsent(
                    key.substring(0, end),
                    once -> new Mistake(
                            "%s is not a property of the virtual-thread starter (%s)"
                                    .formatted(key, PropertySourceOrigin.get(source, key)),
                            "Did you mean %s? All keys of the starter begin with %s."
                                    .formatted(meant, meant.startsWith(VARIABLE) ? "VIRTUALTHREAD" : PREFIX)));
        } else if (binding.properties() != null && !isSwitch(meant)) {
            ignore(key, meant);
        }
    }

    /** Others have a switch of that name too. */
    private static boolean isSwitch(String meant) {
        return meant.equals(PREFIX + ".enabled") || meant.equals(VARIABLE + "ENABLED");
    }

    private void ignore(String key, String meant) {
        ignored.add("%s (did you mean %s?)".formatted(key, meant));
    }

    private void checkName(String name) {
        if (!name.matches("[A-Za-z0-9_-]+")) {
            Mistake withoutBrackets = new Mistake(
                    "Limit '%s': outside brackets, Spring Boot keeps only letters a to z, digits and '-' of a name"
                            .formatted(name),
                    "Put the name in brackets and quotes: virtual-thread.limits.\"[%s]\".".formatted(name));
            mistakes.put(name, LimitNames.isAllowed(name) ? withoutBrackets : wrong(name));
        }
    }

    /** Mistake for a name that no limit can have. */
    static Mistake wrong(String name) {
        String nearest = name.replaceAll("[^\\p{L}\\p{N}._-]+", "-").replaceAll("^-|-$", "");
        String remedy = "Use only these characters.";
        if (LimitNames.isAllowed(nearest)) {
            remedy = "Name it %s, as in %s.".formatted(nearest, PropertyKeys.limit(nearest));
        }
        return new Mistake("Limit '%s': %s, was '%s'".formatted(name, LimitNames.RULE, name), remedy);
    }
}
