package io.github.virtualthread.mistake;

import io.github.virtualthread.Internal;
import java.io.Serializable;

/**
 * Something in the application that cannot work as it is written.
 *
 * @param description what is wrong: names the thing, the rule and the value; without a full stop
 * @param action what to write instead; whole sentences
 */
public record Mistake(String description, String action) implements Serializable {

    /** Made by checks. */
    @Internal
    public Mistake {}

    @Override
    public String toString() {
        return description + ". " + action;
    }
}
