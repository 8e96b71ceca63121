package io.github.virtualthread.interceptor;

import java.io.Serializable;

/**
 * Something in the application that cannot work as it is written.
 *
 * @param description what is wrong: names the thing, the rule and the value; without a full stop
 * @param action what to write instead; whole sentences
 */
public record Mistake(String description, String action) implements Serializable {

    /** An annotation with a placeholder that nothing gives a value to. */
    static Mistake unreadable(AnnotatedMethod method, IllegalArgumentException failure) {
        return new Mistake(
                "%s on %s cannot be read: %s".formatted(method.annotation(), method.place(), failure.getMessage()),
                "Set the property, or write a default into the placeholder, as in ${mail.limit:mail}.");
    }

    @Override
    public String toString() {
        return description + ". " + action;
    }
}
