package io.github.virtualthread.autoconfigure.properties;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

/** The prefix of all keys of the starter, and those below which users choose names. */
final class StarterKeys {

    static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("virtual-thread");
    static final ConfigurationPropertyName LIMITS = PREFIX.append("limits");
    static final ConfigurationPropertyName METHODS = PREFIX.append("methods");

    private StarterKeys() {}
}
