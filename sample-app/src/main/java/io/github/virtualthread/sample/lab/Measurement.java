package io.github.virtualthread.sample.lab;

import java.util.LinkedHashMap;
import java.util.Map;

/** The figures of one run of one contender, by the key of their {@link Answer.Column}. */
public record Measurement(Map<String, Double> figures) {

    public static Measurement of(String key, double figure) {
        return new Measurement(Map.of(key, figure));
    }

    public Measurement and(String key, double figure) {
        Map<String, Double> more = new LinkedHashMap<>(figures);
        more.put(key, figure);
        return new Measurement(more);
    }
}
