package io.github.virtualthread.observation;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;

/** What a registry has counted, by the names of meters after {@code virtual.thread}. */
public record Figures(MeterRegistry registry) {

    private static final String PREFIX = "virtual.thread.";

    public double count(String counter, String... tags) {
        return registry.get(PREFIX + counter).tags(tags).counter().count();
    }

    public double value(String gauge, String... tags) {
        return registry.get(PREFIX + gauge).tags(tags).gauge().value();
    }

    public Timer timer(String timer, String... tags) {
        return registry.get(PREFIX + timer).tags(tags).timer();
    }
}
