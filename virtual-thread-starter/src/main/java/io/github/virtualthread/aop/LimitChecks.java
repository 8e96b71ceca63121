package io.github.virtualthread.aop;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import java.util.Collection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringValueResolver;

/** Whether an annotation asks for a limit that there is. */
final class LimitChecks {

    private final StringValueResolver placeholders;
    private final Supplier<? extends Collection<String>> names;
    private final MethodSettings settings;

    LimitChecks(
            StringValueResolver placeholders, Supplier<? extends Collection<String>> names, MethodSettings settings) {
        this.placeholders = placeholders;
        this.names = names;
        this.settings = settings;
    }

    /**
     * What a method runs under.
     *
     * @throws IllegalArgumentException if {@link #check} or {@link TimeoutChecks} has a mistake for it
     */
    CallSettings settings(AnnotatedMethod method) {
        return CallSettings.of(method, placeholders, settings);
    }

    /** An annotation with a placeholder that nothing gives a value to. */
    static Mistake unreadable(AnnotatedMethod method, IllegalArgumentException failure) {
        return new Mistake(
                "%s on %s cannot be read: %s".formatted(method.annotation(), method.place(), failure.getMessage()),
                "Set the property, or write a default into the placeholder, as in ${mail.limit:mail}.");
    }

    @Nullable
    Mistake check(AnnotatedMethod method) {
        String limit;
        try {
            CallSettings.name(method, placeholders);
            limit = CallSettings.limit(method, placeholders, settings);
        } catch (IllegalArgumentException failure) {
            return unreadable(method, failure);
        }
        // a property may lift the limit
        boolean isItsOwn = settings.of(method).limit() == null;
        if (limit == null
                && isItsOwn
                && method.isLimited()
                && method.declaration().contradiction() == null) {
            return new Mistake(
                    "%s on %s names no limit; the default limit does not apply to it"
                            .formatted(method.annotation(), method.place()),
                    "Name one, as in %s(\"db\"), or remove %s.".formatted(method.annotation(), method.annotation()));
        }
        Collection<String> known = names.get();
        // a default limit that does not exist is a mistake of its own, not one of every method
        return limit == null || limit.equals(settings.defaultLimit()) || isKnown(limit, known)
                ? null
                : unknown(method, limit, known);
    }

    private static boolean isKnown(String limit, Collection<String> known) {
        return known.stream().map(LimitNames::uniform).anyMatch(LimitNames.uniform(limit)::equals);
    }

    private Mistake unknown(AnnotatedMethod method, String limit, Collection<String> known) {
        String action = Spelling.nearest(limit, known)
                        .map("Did you mean '%s'? "::formatted)
                        .orElse("")
                + "Correct " + source(method);
        return new Mistake(
                "%s asks for limit '%s', but %s".formatted(method.place(), limit, problem(limit, known)),
                LimitNames.isAllowed(limit)
                        ? "%s, or set %s.permits.".formatted(action, PropertyKeys.limit(limit))
                        : action + ".");
    }

    private static String problem(String limit, Collection<String> known) {
        if (!LimitNames.isAllowed(limit)) {
            return "a name has letters, digits, '-', '_' and '.' only";
        }
        return known.isEmpty() ? "no limits are configured" : "the configured limits are " + known;
    }

    /** Where the name of the limit is written. */
    private String source(AnnotatedMethod method) {
        return settings.of(method).limit() == null
                ? method.annotation() + " on " + method.place()
                : PropertyKeys.method(method.qualifiedName()) + ".limit";
    }
}
