package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(300)
class LimitSettingsTests {

    @Test
    void withoutFurtherWordsAnyNumberMayWaitForAnyTime() {
        LimitSettings settings = LimitSettings.of("db", 20);

        assertThat(settings)
                .isEqualTo(new LimitSettings(
                        "db",
                        20,
                        LimitSettings.UNBOUNDED,
                        null,
                        LimitSettings.Nested.WARN,
                        null,
                        null,
                        LimitSettings.UNBOUNDED,
                        LimitSettings.UNBOUNDED,
                        null,
                        null,
                        false,
                        Map.of()));
    }

    @Test
    void theQueueMayHaveNoRoomAtAll() {
        assertThat(LimitSettings.of("db", 1).withQueueCapacity(0).queueCapacity())
                .isZero();
    }

    @Test
    void tellsThatThereMustBeAPermit() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LimitSettings.of("mail", 0))
                .withMessage("Limit 'mail': permits must be at least 1, was 0");
    }

    @Test
    void tellsThatTheQueueCannotBeSmallerThanEmpty() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LimitSettings.of("mail", 1).withQueueCapacity(-1))
                .withMessage("Limit 'mail': queue-capacity must be at least 0, was -1");
    }

    @Test
    void tellsHowToNeverWait() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LimitSettings.of("mail", 1).withMaxWait(Duration.ZERO))
                .withMessage("Limit 'mail': max-wait must be longer than zero, was 0s"
                        + " (to reject calls instead of letting them wait, set queue-capacity to 0)");
    }

    @Test
    void tellsEverythingThatIsWrongAtOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new LimitSettings(
                        "e mail",
                        -1,
                        -2,
                        Duration.ofSeconds(-3),
                        LimitSettings.Nested.WARN,
                        null,
                        null,
                        LimitSettings.UNBOUNDED,
                        LimitSettings.UNBOUNDED,
                        null,
                        null,
                        false,
                        Map.of("gold", 101.0)))
                .withMessage(
                        "Limit 'e mail': a name may contain only letters, digits, '-', '_' and '.', was 'e mail';"
                                + " permits must be at least 1, was -1; queue-capacity must be at least 0, was -2;"
                                + " max-wait must be longer than zero, was -3s (to reject calls instead of letting them"
                                + " wait, set queue-capacity to 0); key-weights must be from 0.01 to 100, was 101.0 for 'gold'");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.0099, -1, 100.1, Double.NaN, Double.POSITIVE_INFINITY})
    void tellsOfAWeightOutOfItsRange(double weight) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LimitSettings.of("api", 1).withKeyWeights(Map.of("gold", weight)))
                .withMessage("Limit 'api': key-weights must be from 0.01 to 100, was %s for 'gold'", weight);
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "NONE", "no-ne"})
    void refusesTheReservedName(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LimitSettings.of(name, 1))
                .withMessage("Limit '%s': the name 'none' is reserved for calls without a limit", name);
    }
}
