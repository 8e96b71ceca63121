package io.github.virtualthread.autoconfigure.properties;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.properties.VirtualThreadProperties.Limit;
import io.github.virtualthread.limit.LimitNumber;
import io.github.virtualthread.limit.LimitNumber.Change;
import io.github.virtualthread.limit.LimitSettings;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** Each key of a limit is bound and refreshed. {@link LimitMergeTests} has the rest. */
class LimitNumbersTests {

    private static final String KEYS = "io.github.virtualthread.autoconfigure.properties.LimitMergeTests#KEYS";

    @Test
    void eachKeyHasItsRow() {
        assertThat(Stream.of(LimitNumber.values()).map(LimitNumber::key))
                .containsExactlyInAnyOrderElementsOf(PropertyMistakes.keys(Limit.class));
    }

    @ParameterizedTest
    @FieldSource(KEYS)
    void eachKeyIsBound(String key, String one, String other, Map<String, String> beside) {
        assertThat(changed(key, limit(key, one, beside), limit(key, other, beside)))
                .isTrue();
    }

    private static boolean changed(String key, LimitSettings one, LimitSettings other) {
        return !number(key).of(one).equals(number(key).of(other));
    }

    @ParameterizedTest
    @FieldSource(KEYS)
    void whatTheFileChangesIsChanged(String key, String one, String other, Map<String, String> beside) {
        LimitSettings before = limit(key, one, beside);
        LimitSettings after = limit(key, other, beside);

        LimitSettings refreshed = LimitRefresh.changed(before, after, before);

        assertThat(refreshed).isEqualTo(number(key).change() == Change.NEVER ? before : after);
    }

    @ParameterizedTest
    @FieldSource(KEYS)
    void whatTheFileDoesNotChangeStaysAsItWasSetByHand(
            String key, String one, String other, Map<String, String> beside) {
        LimitSettings file = limit(key, one, beside);
        LimitSettings byHand = limit(key, other, beside);

        assertThat(LimitRefresh.changed(file, file, byHand)).isEqualTo(byHand);
    }

    private static LimitSettings limit(String key, String value, Map<String, String> beside) {
        return LimitMergeTests.limit(LimitMergeTests.file(key, value, beside));
    }

    private static LimitNumber number(String key) {
        return Arrays.stream(LimitNumber.values())
                .filter(number -> number.key().equals(key.split("\\.")[0]))
                .findFirst()
                .orElseThrow();
    }
}
