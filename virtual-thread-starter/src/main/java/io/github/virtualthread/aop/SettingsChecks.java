package io.github.virtualthread.aop;

import io.github.virtualthread.limit.LimitNames;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.mistake.Mistake;
import io.github.virtualthread.mistake.PropertyKeys;
import io.github.virtualthread.mistake.Spelling;
import io.github.virtualthread.mistake.VirtualThreadConfigurationException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Checks that the limit of an annotation exists, that its timeout and its deadline are durations, and that its key can be read. */
record SettingsChecks(CallSettings calls, Supplier<TaskLimits> limits) {

    List<Mistake> check(AnnotatedMethod method) {
        Declaration written = method.declaration();
        List<Mistake> found = new ArrayList<>();
        add(found, method, () -> checkLimit(method));
        add(found, method, () -> checkDuration(method, "timeout", written.timeout()));
        add(found, method, () -> checkDuration(method, "deadline", written.deadline()));
        add(found, method, () -> checkKey(method));
        return found;
    }

    /** Adds what a check finds, or that the annotation has a placeholder that no property resolves. */
    private static void add(List<Mistake> found, AnnotatedMethod method, Supplier<@Nullable Mistake> check) {
        try {
            Mistake mistake = check.get();
            if (mistake != null) {
                found.add(mistake);
            }
        } catch (VirtualThreadConfigurationException wrong) {
            found.addAll(wrong.mistakes());
        } catch (IllegalArgumentException failure) {
            found.add(new Mistake(
                    "%s on %s cannot be read: %s".formatted(method.annotation(), method.place(), failure.getMessage()),
                    "Set the property, or give the placeholder a default value, as in ${mail.limit:mail}."));
        }
    }

    private @Nullable Mistake checkLimit(AnnotatedMethod method) {
        calls.name(method);
        String limit = calls.limit(method);
        // a property may remove the limit
        boolean isItsOwn = calls.settings().of(method).limit() == null;
        if (limit == null
                && isItsOwn
                && method.isLimited()
                && method.declaration().contradiction() == null) {
            return new Mistake(
                    "%s on %s names no limit, and the default limit does not apply to @Limited"
                            .formatted(method.annotation(), method.place()),
                    "Name one, as in %s(\"db\"), or remove %s.".formatted(method.annotation(), method.annotation()));
        }
        if (limit == null) {
            return null;
        }
        // a default limit that does not exist is reported once, not for every method
        if (limit.equals(calls.settings().defaultLimit()) || limits.get().contains(limit)) {
            return null;
        }
        return unknown(method, limit);
    }

    private @Nullable Mistake checkDuration(AnnotatedMethod method, String attribute, String written) {
        String text = calls.resolve(written);
        try {
            CallSettings.duration(text);
            return null;
        } catch (IllegalArgumentException wrong) {
            return new Mistake(
                    "%s: %s of %s %s".formatted(method.place(), attribute, method.annotation(), wrong.getMessage()),
                    "Write a duration such as %s = \"2s\" or \"500ms\", or remove the attribute.".formatted(attribute));
        }
    }

    private @Nullable Mistake checkKey(AnnotatedMethod method) {
        String key = calls.key(method);
        if (key != null) {
            KeyExpression.of(key, method);
        }
        return null;
    }

    private Mistake unknown(AnnotatedMethod method, String limit) {
        String action = Spelling.question(limit, limits.get().names()) + "Correct " + source(method);
        if (LimitNames.isAllowed(limit)) {
            action += ", or set %s.permits".formatted(PropertyKeys.limit(limit));
        }
        return new Mistake(
                "%s asks for limit '%s', but %s"
                        .formatted(
                                method.place(),
                                limit,
                                LimitNames.whyUnknown(limit, limits.get().names())),
                action + ".");
    }

    /** Where the name of the limit is written. */
    private String source(AnnotatedMethod method) {
        if (calls.settings().of(method).limit() == null) {
            return method.annotation() + " on " + method.place();
        }
        return PropertyKeys.method(method.qualifiedName()) + ".limit";
    }
}
