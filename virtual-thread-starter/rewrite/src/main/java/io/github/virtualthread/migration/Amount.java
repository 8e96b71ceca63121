package io.github.virtualthread.migration;

import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A number of an executor.
 *
 * @param setting the property of Spring Boot that sets it, null if it is written out
 * @param number what is written out, or applies unless the property is set
 */
record Amount(@Nullable String setting, int number) {

    static final Amount UNBOUNDED = of(Integer.MAX_VALUE);

    static Amount of(int number) {
        return new Amount(null, number);
    }

    Value in(Settings settings) {
        String otherwise = String.valueOf(number);
        return setting == null ? new Value(otherwise, List.of(otherwise)) : settings.value(setting, otherwise);
    }

    /**
     * What the settings say.
     *
     * @param written as it is written into them
     * @param possible all that it is in some profile
     */
    record Value(String written, List<String> possible) {

        private static final Predicate<String> UNBOUNDED =
                Pattern.compile("-\\d+|" + Integer.MAX_VALUE).asMatchPredicate();
        private static final Predicate<String> NONE = Pattern.compile("-\\d+|0").asMatchPredicate();
        private static final Predicate<String> SOME =
                Pattern.compile("[1-9]\\d*").asMatchPredicate();

        boolean is(String value) {
            return possible.stream().allMatch(value::equals);
        }

        boolean isUnbounded() {
            return possible.stream().allMatch(UNBOUNDED);
        }

        boolean mayBeUnbounded() {
            return possible.stream().anyMatch(UNBOUNDED);
        }

        boolean isNone() {
            return possible.stream().allMatch(NONE);
        }

        boolean isSome() {
            return possible.stream().allMatch(SOME);
        }
    }
}
