package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.virtualthread.limit.LimitNumber.Change;
import io.github.virtualthread.limit.LimitNumber.Kind;
import io.github.virtualthread.limit.LimitSettings.Adapt;
import io.github.virtualthread.limit.LimitSettings.Nested;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.MethodSource;

/** A component of the settings that a row was forgotten for, or a row that reads or changes another one, fails here. */
class LimitNumberTests extends TimedLimits {

    private static final LimitSettings DB = LimitSettings.of("db", 20).withPermitsFrom(new PermitsFrom("pool", 3));

    /** Another value of each. */
    private static final Map<LimitNumber, Object> OTHER = new EnumMap<>(Map.ofEntries(
            Map.entry(LimitNumber.PERMITS, 8),
            Map.entry(LimitNumber.PERMITS_FROM, "otherPool"),
            Map.entry(LimitNumber.HEADROOM, 2),
            Map.entry(LimitNumber.CLUSTER_PERMITS, 30),
            Map.entry(LimitNumber.ON_FAILURE, OnFailure.REJECT),
            Map.entry(LimitNumber.WITHIN, "common"),
            Map.entry(LimitNumber.PERMITS_PER_KEY, 4),
            Map.entry(LimitNumber.QUEUE_CAPACITY, 100),
            Map.entry(LimitNumber.QUEUE_CAPACITY_PER_KEY, 10),
            Map.entry(LimitNumber.KEY_WEIGHTS, Map.of("gold", 3.0)),
            Map.entry(LimitNumber.MAX_WAIT, Duration.ofSeconds(2)),
            Map.entry(LimitNumber.REJECT_HOPELESS, true),
            Map.entry(LimitNumber.ADAPT, new Adapt(4, 80, Duration.ofMillis(150))),
            Map.entry(LimitNumber.DRY_RUN, true),
            Map.entry(LimitNumber.NESTED, Nested.FAIL)));

    @Test
    void eachComponentOfTheSettingsHasItsRow() {
        assertThat(Stream.of(LimitNumber.values()).map(LimitNumber::key))
                .containsExactlyInAnyOrderElementsOf(Stream.concat(
                                components().map(component -> dashed(component.getName())),
                                Stream.of("headroom")) // of permits-from
                        .toList());
        assertThat(OTHER).containsOnlyKeys(LimitNumber.values());
    }

    @ParameterizedTest
    @EnumSource
    void oneChangesAlone(LimitNumber number) throws ReflectiveOperationException {
        // a number that is found is no pool's
        LimitSettings before = number == LimitNumber.ADAPT ? DB.withPermitsFrom(null) : DB;

        LimitSettings after = LimitNumber.changed(before, Collections.singletonMap(number, OTHER.get(number)));

        assertThat(number.of(before)).isNotEqualTo(number.of(after));
        for (LimitNumber each : LimitNumber.values()) {
            assertThat(each.of(after)).as(each.key()).isEqualTo(each == number ? OTHER.get(number) : each.of(before));
        }
        String component = number == LimitNumber.HEADROOM ? "permits-from" : number.key();
        for (RecordComponent each : components().toList()) {
            boolean isSame = Objects.equals(
                    each.getAccessor().invoke(before), each.getAccessor().invoke(after));
            assertThat(isSame)
                    .as(each.getName())
                    .isEqualTo(!dashed(each.getName()).equals(component));
        }
    }

    static Stream<LimitNumber> checked() {
        Set<Kind> kinds = EnumSet.of(Kind.NUMBER, Kind.BOUND, Kind.TIME);
        return Stream.of(LimitNumber.values()).filter(number -> kinds.contains(number.kind()));
    }

    @ParameterizedTest
    @MethodSource("checked")
    void aNumberBelowItsLeastIsRefused(LimitNumber number) {
        boolean isTime = number.kind() == Kind.TIME;
        Object wrong = isTime ? Duration.ZERO : (Object) (number.least() - 1);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> LimitNumber.changed(DB, Map.of(number, wrong)))
                .withMessageStartingWith("Limit 'db': %s must be ", number.key())
                .withMessageContaining(
                        isTime ? "longer than zero, was 0s" : "at least %d, was %s", number.least(), wrong);
        if (!isTime) {
            assertThat(number.problem(number.least())).isNull();
        }
    }

    /** What a limit can only begin with, a change refuses. */
    @ParameterizedTest
    @EnumSource(names = "WITHIN", mode = Mode.EXCLUDE) // what never changes, nobody asks for
    void onlySomeCanBeAdded(LimitNumber number) {
        LimitSettings before = LimitSettings.of("db", 20);
        LimitSettings after = LimitNumber.changed(before, Map.of(number, OTHER.get(number)));
        TaskLimit limit = semaphore(before);

        if (number.change() == Change.IF_SET_AT_START) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> limit.change(now -> after))
                    .withMessageStartingWith("Limit 'db': %s cannot be added while the application runs", number.key());
        } else {
            limit.change(now -> after);
            assertThat(limit.settings()).isEqualTo(after);
        }
    }

    /** Limits that lie within each other have one lock and one queue of rejections, from the start on. */
    @Test
    void theLimitAroundStaysThatOfTheStart() {
        TaskLimits limits = new TaskLimits(
                List.of(
                        LimitSettings.of("around", 5),
                        LimitSettings.of("inside", 3).withWithin("around"),
                        LimitSettings.of("alone", 3)),
                timer,
                change -> {});

        for (String name : List.of("inside", "alone")) {
            TaskLimit limit = limits.get(name);
            LimitSettings before = limit.settings();
            String other = before.within() == null ? "around" : null;

            assertThatIllegalArgumentException()
                    .isThrownBy(() -> limit.change(now -> now.withWithin(other)))
                    .withMessage(
                            "Limit '%s': within cannot be changed while the application runs; set it in the properties, and restart"
                                    + " the application",
                            name);
            assertThat(limit.settings()).isEqualTo(before);
        }
    }

    @Test
    void theNameStaysToo() {
        TaskLimit limit = semaphore(LimitSettings.of("db", 20));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> limit.change(now -> LimitSettings.of("other", 3)))
                .withMessage("Limit 'db': the changed settings must have the same name, had 'other'");
    }

    @Test
    void severalAreCheckedTogether() {
        LimitSettings watching = LimitSettings.of("db", 20).withDryRun(true);

        assertThat(LimitNumber.changed(watching, Map.of(LimitNumber.DRY_RUN, false, LimitNumber.PERMITS_PER_KEY, 2)))
                .hasToString("db (20 permits, 2 per key, unbounded queue, unbounded wait)");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        LimitNumber.changed(watching, Map.of(LimitNumber.PERMITS, 0, LimitNumber.QUEUE_CAPACITY, -1)))
                .withMessage(
                        "Limit 'db': permits must be at least 1, was 0; queue-capacity must be at least 0, was -1");
    }

    @Test
    void permitsThatAreNotChangedFollowTheirBounds() {
        LimitSettings shared = LimitSettings.of("partner", 20).withClusterPermits(20);

        assertThat(LimitNumber.changed(shared, Map.of(LimitNumber.CLUSTER_PERMITS, 30))
                        .permits())
                .isEqualTo(30);
        assertThat(LimitNumber.changed(shared, Map.of(LimitNumber.CLUSTER_PERMITS, 30, LimitNumber.PERMITS, 5))
                        .permits())
                .isEqualTo(5);
        Adapt adapt = new Adapt(4, 10, Duration.ofMillis(150));
        LimitSettings own = LimitSettings.of("partner", 20);
        assertThat(LimitNumber.changed(own, Map.of(LimitNumber.ADAPT, adapt)).permits())
                .isEqualTo(10);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> LimitNumber.changed(own, Map.of(LimitNumber.ADAPT, adapt, LimitNumber.PERMITS, 20)));
    }

    private static Stream<RecordComponent> components() {
        return List.of(LimitSettings.class.getRecordComponents()).stream()
                .filter(component -> !component.getName().equals("name"));
    }

    private static String dashed(String name) {
        return name.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }
}
