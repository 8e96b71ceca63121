package io.github.virtualthread.mistake;

import io.github.virtualthread.Internal;

/** Keys of properties, as messages show them. */
@Internal
public final class PropertyKeys {

    private PropertyKeys() {}

    /**
     * Key of a limit. A name with dots stands in brackets, quoted for YAML.
     *
     * @param name name of the limit
     * @return as in {@code virtual-thread.limits.db} or {@code virtual-thread.limits."[partner.api]"}
     */
    public static String limit(String name) {
        return "virtual-thread.limits." + bracketed(name);
    }

    /**
     * Key of what overrides the annotation of a method.
     *
     * @param name class and method
     * @return as in {@code virtual-thread.methods."[com.acme.Mailer.send]"}
     */
    public static String method(String name) {
        return "virtual-thread.methods." + bracketed(name);
    }

    private static String bracketed(String name) {
        return name.contains(".") ? "\"[" + name + "]\"" : name;
    }
}
