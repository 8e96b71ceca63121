package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.timer.TaskTimer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("jdk")
class PermitsFromTests {

    @Test
    void tellsWhatIsLeftToOthers() {
        assertThat(new PermitsFrom("dataSource", 0)).hasToString("dataSource");
        assertThat(new PermitsFrom("dataSource", 2)).hasToString("dataSource less 2");
    }

    @Test
    void aLimitTellsWhereItsPermitsComeFrom() {
        PermitsFrom pool = new PermitsFrom("dataSource", 2);
        try (TaskTimer timer = new TaskTimer("timer")) {
            TaskLimits limits = new TaskLimits(
                    List.of(LimitSettings.of("db", 1).withPermitsFrom(pool), LimitSettings.of("mail", 1)),
                    timer,
                    change -> {});

            assertThat(limits.get("db").permitsFrom()).isEqualTo(pool);
            assertThat(limits.get("mail").permitsFrom()).isNull();
            assertThat(limits.contains("DB")).isTrue();
            assertThat(limits.contains("web")).isFalse();
        }
    }

    @Test
    void noConnectionCanBeLeftToOthersThatIsNotThere() {
        LimitSettings settings = LimitSettings.of("db", 1);

        assertThatThrownBy(() -> settings.withPermitsFrom(new PermitsFrom("dataSource", -1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("headroom must be at least 0, was -1");
        assertThat(settings.withPermitsFrom(new PermitsFrom("dataSource", 0)).permitsFrom())
                .hasToString("dataSource");
    }
}
