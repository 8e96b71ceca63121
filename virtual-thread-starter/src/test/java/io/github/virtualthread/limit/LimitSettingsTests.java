package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.virtualthread.limit.LimitSettings.Adapt;
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
                        Map.of(),
                        null,
                        false));
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
                        Map.of("gold", 101.0),
                        null,
                        false))
                .withMessage("Limit 'e mail': a name may contain only letters, digits, '-', '_' and '.', was 'e mail';"
                        + " permits must be at least 1, was -1; queue-capacity must be at least 0, was -2;"
                        + " max-wait must be longer than zero, was -3s (to reject calls instead of letting them"
                        + " wait, set queue-capacity to 0); key-weights must be from 0.1 to 10, was 101.0 for 'gold'");
    }

    @Test
    void tellsHowANumberThatIsFoundMustBegin() {
        LimitSettings partner = LimitSettings.of("partner", 20);
        Duration goal = Duration.ofMillis(150);
        assertThat(partner.withAdapt(new Adapt(30, 80, goal)).permits()).isEqualTo(30);
        assertThat(partner.withAdapt(new Adapt(4, 80, goal)))
                .hasToString(
                        "partner (20 permits of 4 to 80, unbounded queue, unbounded wait, hopeless calls rejected)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> partner.withAdapt(new Adapt(4, 80, goal)).withPermits(3))
                .withMessage(
                        "Limit 'partner': permits must be from adapt.least to adapt.most, which is from 4 to 80, was 3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> partner.withAdapt(new Adapt(0, -1, Duration.ZERO)))
                .withMessage(
                        "Limit 'partner': permits must be at least 1, was 0; adapt.least must be at least 1, was 0; adapt.run-time must be longer than zero, as 1.5"
                                + " times what an idle resource needs; permits must be from adapt.least to adapt.most, which is from 0 to -1,"
                                + " was 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> partner.withClusterPermits(20).withAdapt(new Adapt(4, 80, goal)))
                .withMessage(
                        "Limit 'partner': adapt finds the number of permits, so there must be neither permits-from nor"
                                + " cluster-permits");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, 0.099, -1, 10.1, Double.NaN, Double.POSITIVE_INFINITY})
    void tellsOfAWeightOutOfItsRange(double weight) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LimitSettings.of("api", 1).withKeyWeights(Map.of("gold", weight)))
                .withMessage("Limit 'api': key-weights must be from 0.1 to 10, was %s for 'gold'", weight);
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "NONE", "no-ne"})
    void refusesTheReservedName(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LimitSettings.of(name, 1))
                .withMessage("Limit '%s': the name 'none' is reserved for calls without a limit", name);
    }
}
