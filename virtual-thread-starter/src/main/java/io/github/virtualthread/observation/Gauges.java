package io.github.virtualthread.observation;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.DoubleBinaryOperator;
import java.util.function.DoubleSupplier;

/** The values that one gauge stands for: one of each context. */
final class Gauges {

    private final DoubleBinaryOperator both;
    private final List<DoubleSupplier> values = new CopyOnWriteArrayList<>();

    Gauges(DoubleBinaryOperator both) {
        this.both = both;
    }

    void add(DoubleSupplier value) {
        values.add(value);
    }

    void remove(DoubleSupplier value) {
        values.remove(value);
    }

    double value() {
        return values.stream()
                .mapToDouble(DoubleSupplier::getAsDouble)
                .reduce(both)
                .orElse(0);
    }
}
