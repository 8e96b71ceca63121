package io.github.virtualthread.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.virtualthread.actuate.VirtualThreadsEndpoint.LimitDescriptor;
import io.github.virtualthread.limit.LimitNumber;
import io.github.virtualthread.limit.LimitNumber.AtEndpoint;
import io.github.virtualthread.limit.LimitNumber.Kind;
import io.github.virtualthread.limit.LimitSettings;
import java.lang.reflect.Method;
import java.lang.reflect.Parameter;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;

/** The endpoint requests and shows what the rows say. */
class LimitNumbersAtEndpointTests {

    private static final LimitSettings OWN = LimitSettings.of("db", 20);
    private static final LimitSettings SHARED = LimitSettings.of("db", 20).withClusterPermits(30);

    static Stream<LimitNumber> changed() {
        return those(AtEndpoint.CHANGED, AtEndpoint.CHANGED_ONLY);
    }

    private static Stream<LimitNumber> those(AtEndpoint... what) {
        return Arrays.stream(LimitNumber.values())
                .filter(number -> List.of(what).contains(number.atEndpoint()));
    }

    @Test
    void theParametersAreThoseOfTheRows() {
        Method change = Arrays.stream(VirtualThreadsEndpoint.class.getDeclaredMethods())
                .filter(method -> method.isAnnotationPresent(WriteOperation.class))
                .findFirst()
                .orElseThrow();

        assertThat(Arrays.stream(change.getParameters()).skip(1).map(Parameter::getName))
                .containsExactlyInAnyOrderElementsOf(
                        changed().map(LimitNumber::parameter).toList());
    }

    @ParameterizedTest
    @MethodSource("changed")
    void aRequestChangesItsNumberAlone(LimitNumber number) {
        LimitSettings now = number == LimitNumber.CLUSTER_PERMITS ? SHARED : OWN;

        LimitSettings after = request(number, text(number)).applyTo(now);

        for (LimitNumber each : LimitNumber.values()) {
            assertThat(each.of(after)).as(each.key()).isEqualTo(each == number ? value(number) : each.of(now));
        }
    }

    @ParameterizedTest
    @MethodSource("changed")
    void whatIsWrongIsNamed(LimitNumber number) {
        LimitSettings now = number == LimitNumber.CLUSTER_PERMITS ? SHARED : OWN;

        assertThatIllegalArgumentException()
                .isThrownBy(() -> request(number, "wrong").applyTo(now))
                .withMessageStartingWith(number.parameter() + " must be ")
                .withMessageContaining("was 'wrong'")
                .withMessageEndingWith(number.withoutMaximum());
    }

    private static LimitRequest request(LimitNumber number, @Nullable String text) {
        return new LimitRequest(Map.of(number, text));
    }

    private static String text(LimitNumber number) {
        return switch (number.kind()) {
            case NUMBER, BOUND -> " 25 ";
            case TIME -> " 25s ";
            case FLAG -> " TRUE ";
            case OTHER -> throw new AssertionError(number);
        };
    }

    private static Object value(LimitNumber number) {
        return switch (number.kind()) {
            case NUMBER, BOUND -> 25;
            case TIME -> Duration.ofSeconds(25);
            case FLAG -> true;
            case OTHER -> throw new AssertionError(number);
        };
    }

    @Test
    void eachIsShownUnderItsName() {
        LimitSettings settings = SHARED;
        for (LimitNumber number : those(AtEndpoint.CHANGED).toList()) {
            settings = request(number, text(number)).applyTo(settings);
        }
        LimitDescriptor row = new LimitDescriptor();

        Descriptors.addNumbers(settings, row);

        assertThat(row.keySet())
                .containsExactlyElementsOf(those(AtEndpoint.CHANGED, AtEndpoint.SHOWN)
                        .map(number -> number.parameter() + (number.kind() == Kind.TIME ? "Seconds" : ""))
                        .toList());
        assertThat(row).containsEntry("queueCapacity", 25).containsEntry("maxWaitSeconds", 25.0);
    }

    @Test
    void whatHasNoMaximumIsLeftOut() {
        LimitDescriptor row = new LimitDescriptor();

        Descriptors.addNumbers(OWN, row);

        assertThat(row).containsOnlyKeys("permits", "nested");
    }
}
