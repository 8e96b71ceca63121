package io.github.virtualthread.aop;

import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.MethodSettings.MethodOverride;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitNames;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringValueResolver;

/** Resolves placeholders in the attributes of an annotation, and applies defaults and overrides. */
final class CallSettings {

    private CallSettings() {}

    /**
     * Resolves the annotation of a method.
     *
     * @param placeholders resolver of {@code ${...}}; null from it counts as empty
     * @param settings defaults and overrides
     * @throws IllegalArgumentException if a placeholder cannot be resolved, or the timeout or the deadline is not a duration;
     *     the message names it
     */
    static AdvisedMethod of(AnnotatedMethod method, StringValueResolver placeholders, MethodSettings settings) {
        Declaration written = method.declaration();
        MethodOverride override = settings.of(method);
        Duration timeout = duration(method, "timeout", written.timeout(), override.timeout(), placeholders);
        Duration usual = timeout == null ? settings.timeout() : timeout;
        return new AdvisedMethod(
                method.qualifiedName(),
                name(method, placeholders),
                limit(method, placeholders, settings),
                method.isLimited() ? null : usual,
                duration(method, "deadline", written.deadline(), override.deadline(), placeholders),
                key(method, placeholders),
                method.isLimited());
    }

    static String name(AnnotatedMethod method, StringValueResolver placeholders) {
        String name = resolve(method.declaration().name(), placeholders);
        return name.isEmpty() ? method.defaultName() : name;
    }

    static @Nullable String limit(AnnotatedMethod method, StringValueResolver placeholders, MethodSettings settings) {
        String override = settings.of(method).limit();
        String limit = override == null ? resolve(method.declaration().limit(), placeholders) : override;
        String chosen = limit.isEmpty() && !method.isLimited() ? settings.defaultLimit() : limit;
        return chosen == null || chosen.isEmpty() || LimitNames.uniform(chosen).equals(LimitNames.NONE) ? null : chosen;
    }

    static @Nullable String key(AnnotatedMethod method, StringValueResolver placeholders) {
        String key = resolve(method.declaration().key(), placeholders);
        return key.isEmpty() ? null : key;
    }

    private static @Nullable Duration duration(
            AnnotatedMethod method,
            String attribute,
            String written,
            @Nullable Duration override,
            StringValueResolver placeholders) {
        if (override != null) {
            return override;
        }
        String text = resolve(written, placeholders);
        try {
            return duration(text);
        } catch (IllegalArgumentException wrong) {
            throw new IllegalArgumentException(
                    "%s: %s %s".formatted(method.qualifiedName(), attribute, wrong.getMessage()));
        }
    }

    /**
     * Reads a duration as annotations spell it, such as {@code 2s}, {@code 500ms} or {@code PT2S}.
     *
     * @return more than zero; null if the text is empty
     * @throws IllegalArgumentException if the text is anything else; the message continues after the attribute
     */
    static @Nullable Duration duration(String text) {
        if (text.isEmpty()) {
            return null;
        }
        Duration duration;
        try {
            duration = DurationFormatterUtils.detectAndParse(text);
        } catch (RuntimeException unreadable) {
            throw new IllegalArgumentException("must be a duration such as 2s, was '%s'".formatted(text), unreadable);
        }
        if (!Durations.hasUnit(text)) {
            throw new IllegalArgumentException("must be a duration with its unit, was '%s'".formatted(text));
        }
        if (!duration.isPositive()) {
            throw new IllegalArgumentException("must be longer than zero, was '%s'".formatted(text));
        }
        return duration;
    }

    static String resolve(String text, StringValueResolver placeholders) {
        String resolved = text.contains("${") ? placeholders.resolveStringValue(text) : text;
        if (resolved == null) {
            return "";
        }
        // the resolver of a plain context leaves unknown placeholders in place
        if (resolved.contains("${")) {
            throw new IllegalArgumentException("no property resolves the placeholder in \"" + text + "\"");
        }
        return resolved.strip();
    }
}
