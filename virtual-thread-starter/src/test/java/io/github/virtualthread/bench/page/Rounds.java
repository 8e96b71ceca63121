package io.github.virtualthread.bench.page;

import java.util.List;
import java.util.function.DoubleBinaryOperator;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;

/**
 * One value for each round. They are rounded as they are shown, so that nothing is missed by digits that nobody sees.
 *
 * @param decimals of each value
 */
record Rounds(List<Double> values, int decimals) {

    Rounds {
        values = values.stream().map(value -> rounded(value, decimals)).toList();
    }

    /** Each value compared with the other contender's in the same round: rounds differ more than what stands side by side. */
    static Rounds ratio(List<Double> values, List<Double> others) {
        return pairs(values, others, (value, other) -> value / other);
    }

    /** What each value has more than the other contender's in the same round. */
    static Rounds difference(List<Double> values, List<Double> others) {
        return pairs(values, others, (value, other) -> value - other);
    }

    private static Rounds pairs(List<Double> values, List<Double> others, DoubleBinaryOperator compared) {
        return new Rounds(
                IntStream.range(0, Math.min(values.size(), others.size()))
                        .mapToObj(i -> compared.applyAsDouble(values.get(i), others.get(i)))
                        .toList(),
                2);
    }

    double median() {
        return rounded(median(values), decimals);
    }

    static double median(List<Double> values) {
        DoubleStream sorted = values.stream().mapToDouble(Double::doubleValue).sorted();
        return sorted.skip((values.size() - 1) / 2)
                .limit(2 - values.size() % 2)
                .average()
                .orElseThrow();
    }

    /** Whether the median is that close to a bound, as both are shown. */
    boolean isWithin(double distance, double bound) {
        return rounded(Math.abs(median() - bound), decimals) <= distance;
    }

    /** How many are on the median's side of a bound, the bound itself on the lower one. */
    private long agreeing(double bound) {
        return values.stream()
                .filter(value -> (value <= bound) == (median() <= bound))
                .count();
    }

    /** Whether at least four agree, and at least four fifths of all. */
    private boolean prove(double bound) {
        long agreeing = agreeing(bound);
        return agreeing >= 4 && agreeing * 5 >= values.size() * 4L;
    }

    /** As in {@code 5 of 5}. */
    String agreement(double bound) {
        return "%d of %d".formatted(agreeing(bound), values.size());
    }

    /** Behind what they are to prove: nothing, if they do. */
    String doubt(double bound) {
        return prove(bound) ? "" : ", not proven";
    }

    private static double rounded(double value, int decimals) {
        double scale = Math.pow(10, decimals);
        return Math.rint(value * scale) / scale;
    }
}
