package io.github.virtualthread.interceptor;

import io.github.virtualthread.limit.LimitNames;
import java.util.Collection;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringValueResolver;

/** Whether an annotation asks for a limit that there is. */
final class LimitChecks {

    private final String annotation;
    private final StringValueResolver placeholders;
    private final Supplier<? extends Collection<String>> names;
    private final @Nullable String defaultLimit;

    LimitChecks(
            String annotation,
            StringValueResolver placeholders,
            Supplier<? extends Collection<String>> names,
            @Nullable String defaultLimit) {
        this.annotation = annotation;
        this.placeholders = placeholders;
        this.names = names;
        this.defaultLimit = defaultLimit;
    }

    /**
     * The limit of a method, null for none.
     *
     * @throws IllegalArgumentException if {@link #check} has a mistake for it
     */
    @Nullable
    String limit(AnnotatedMethod method) {
        return CallSettings.limit(method, placeholders, defaultLimit);
    }

    @Nullable
    Mistake check(AnnotatedMethod method) {
        String limit;
        try {
            CallSettings.name(method, placeholders);
            limit = limit(method);
        } catch (IllegalArgumentException failure) {
            return Mistake.unreadable(annotation, method.place(), failure);
        }
        Collection<String> known = names.get();
        // a default limit that does not exist is a mistake of its own, not one of every method
        return limit == null || limit.equals(defaultLimit) || isKnown(limit, known)
                ? null
                : unknown(method.place(), limit, known);
    }

    private static boolean isKnown(String limit, Collection<String> known) {
        return known.stream().map(LimitNames::uniform).anyMatch(LimitNames.uniform(limit)::equals);
    }

    private Mistake unknown(String place, String limit, Collection<String> known) {
        String configured = known.isEmpty() ? "no limits are configured" : "the configured limits are " + known;
        String guess = LimitNames.nearest(limit, known)
                .map("Did you mean '%s'? "::formatted)
                .orElse("");
        String key = limit.contains(".") ? "[" + limit + "]" : limit;
        return new Mistake(
                "%s asks for limit '%s', but %s".formatted(place, limit, configured),
                guess
                        + "Correct %s on %s, or set virtual-thread.limits%s%s.permits."
                                .formatted(annotation, place, key.startsWith("[") ? "" : ".", key));
    }
}
