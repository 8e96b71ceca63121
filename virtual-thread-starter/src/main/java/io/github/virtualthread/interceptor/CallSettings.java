package io.github.virtualthread.interceptor;

import io.github.virtualthread.limit.LimitNames;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringValueResolver;

/**
 * What a call runs under, with placeholders resolved and defaults applied.
 *
 * @param name name of the task
 * @param limit name of its limit, null for none
 */
record CallSettings(String name, @Nullable String limit) {

    /**
     * Resolves what the annotation of a method says.
     *
     * @param placeholders resolver of {@code ${...}}; null from it counts as empty
     * @param defaultLimit limit of methods that name none
     * @throws IllegalArgumentException if a placeholder cannot be resolved; the message names it
     */
    static CallSettings of(AnnotatedMethod method, StringValueResolver placeholders, @Nullable String defaultLimit) {
        String name = resolve(method.declaration().name(), placeholders);
        String limit = resolve(method.declaration().limit(), placeholders);
        return new CallSettings(
                name.isEmpty() ? method.defaultName() : name, effective(limit.isEmpty() ? defaultLimit : limit));
    }

    private static @Nullable String effective(@Nullable String limit) {
        return limit == null || LimitNames.uniform(limit).equals(LimitNames.NONE) ? null : limit;
    }

    private static String resolve(String text, StringValueResolver placeholders) {
        String resolved = text.contains("${") ? placeholders.resolveStringValue(text) : text;
        if (resolved == null) {
            return "";
        }
        // the resolver of a plain context leaves in place what it does not know
        if (resolved.contains("${")) {
            throw new IllegalArgumentException("No property gives a value to the placeholder in \"" + text + "\"");
        }
        return resolved.strip();
    }
}
