package io.github.virtualthread.observation;

import java.util.function.DoubleBinaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * What a gauge is, before it has tags.
 *
 * @param unit base unit, null for a number
 * @param both makes one value of two, where two contexts have this gauge in one registry
 */
record GaugeSpec(String name, String description, @Nullable String unit, DoubleBinaryOperator both) {

    static GaugeSpec sum(String name, String description) {
        return new GaugeSpec(name, description, null, Double::sum);
    }

    static GaugeSpec longest(String name, String description) {
        return new GaugeSpec(name, description, "seconds", Math::max);
    }
}
