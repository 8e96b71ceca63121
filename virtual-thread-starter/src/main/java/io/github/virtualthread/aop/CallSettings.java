package io.github.virtualthread.aop;

import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.aop.MethodSettings.MethodOverride;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitNames;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringValueResolver;

/**
 * Resolves placeholders in the attributes of an annotation, and applies defaults and overrides.
 *
 * @param placeholders resolver of {@code ${...}}; null from it counts as empty
 * @param settings defaults and overrides
 */
record CallSettings(StringValueResolver placeholders, MethodSettings settings) {

    /**
     * Resolves the annotation of a method.
     *
     * @throws IllegalArgumentException if a placeholder cannot be resolved, or the timeout or the deadline is not a duration;
     *     the message names it
     */
    AdvisedMethod of(AnnotatedMethod method) {
        Declaration written = method.declaration();
        MethodOverride override = settings.of(method);
        Duration timeout = duration(method, "timeout", written.timeout(), override.timeout());
        Duration usual = timeout == null ? settings.timeout() : timeout;
        return new AdvisedMethod(
                method.qualifiedName(),
                name(method),
                limit(method),
                method.isLimited() ? null : usual,
                duration(method, "deadline", written.deadline(), override.deadline()),
                key(method),
                method.isLimited());
    }

    String name(AnnotatedMethod method) {
        String name = resolve(method.declaration().name());
        return name.isEmpty() ? method.defaultName() : name;
    }

    @Nullable
    String limit(AnnotatedMethod method) {
        String override = settings.of(method).limit();
        String limit = override == null ? resolve(method.declaration().limit()) : override;
        String chosen = limit.isEmpty() && !method.isLimited() ? settings.defaultLimit() : limit;
        return chosen == null || chosen.isEmpty() || LimitNames.isNone(chosen) ? null : chosen;
    }

    @Nullable
    String key(AnnotatedMethod method) {
        String key = resolve(method.declaration().key());
        return key.isEmpty() ? null : key;
    }

    private @Nullable Duration duration(
            AnnotatedMethod method, String attribute, String written, @Nullable Duration override) {
        if (override != null) {
            return override;
        }
        String text = resolve(written);
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

    String resolve(String text) {
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
