package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import org.jspecify.annotations.Nullable;
import org.springframework.util.StringValueResolver;

/** Whether the timeout of an annotation is one. */
final class TimeoutChecks {

    private final StringValueResolver placeholders;

    TimeoutChecks(StringValueResolver placeholders) {
        this.placeholders = placeholders;
    }

    @Nullable
    Mistake check(AnnotatedMethod method) {
        String text;
        try {
            text = CallSettings.resolve(method.declaration().timeout(), placeholders);
        } catch (IllegalArgumentException failure) {
            return LimitChecks.unreadable(method, failure);
        }
        try {
            Timeouts.parse(text);
            return null;
        } catch (IllegalArgumentException wrong) {
            return new Mistake(
                    "%s: timeout of %s %s".formatted(method.place(), method.annotation(), wrong.getMessage()),
                    "Write a duration such as timeout = \"2s\" or \"500ms\", or remove it for no timeout of its own.");
        }
    }
}
