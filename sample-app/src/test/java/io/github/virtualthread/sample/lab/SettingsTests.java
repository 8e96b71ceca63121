package io.github.virtualthread.sample.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.sample.lab.Settings.BadSettings;
import io.github.virtualthread.sample.lab.Settings.Scale;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTests {

    private static final List<Parameter> PARAMETERS = List.of(
            new Parameter("tasks", "Tasks", "", 1, 100, 50, 5), new Parameter("millis", "Time", "ms", 0, 1_000, 10, 1));

    @Test
    void whatIsNotChosenIsTheDefaultOfItsScale() {
        assertThat(Settings.of(PARAMETERS, Map.of("millis", "7"), Scale.NORMAL).values())
                .isEqualTo(Map.of("tasks", 50, "millis", 7));
        assertThat(Settings.of(PARAMETERS, Map.of("millis", "7"), Scale.SMALL).values())
                .isEqualTo(Map.of("tasks", 5, "millis", 7));
    }

    @Test
    void theBoundsThemselvesMayBeChosen() {
        assertThat(Settings.of(PARAMETERS, Map.of("tasks", "1", "millis", "1000"), Scale.NORMAL)
                        .values())
                .isEqualTo(Map.of("tasks", 1, "millis", 1_000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "101", "-1", "", "many", "1.5", "99999999999"})
    void whatIsOutOfBoundsIsNamedWithItsBounds(String tasks) {
        assertThatThrownBy(() -> Settings.of(PARAMETERS, Map.of("tasks", tasks), Scale.NORMAL))
                .isInstanceOf(BadSettings.class)
                .hasMessage("'Tasks' must be a whole number from 1 to 100, was '%s'", tasks);
    }

    @Test
    void inTheTerminalABoundMayBeLarger() {
        List<Parameter> parameters = List.of(PARAMETERS.getFirst().inTerminalUpTo(1_000));

        assertThat(Settings.of(
                                parameters,
                                Map.of("tasks", "1000"),
                                Scale.NORMAL,
                                Parameter::mostInTerminal,
                                Parameter::name)
                        .get("tasks"))
                .isEqualTo(1_000);
        assertThatThrownBy(() -> Settings.of(
                        parameters, Map.of("tasks", "1001"), Scale.NORMAL, Parameter::mostInTerminal, Parameter::name))
                .hasMessage("tasks must be a whole number from 1 to 1,000, was '1001'");
        assertThatThrownBy(() -> Settings.of(parameters, Map.of("tasks", "101"), Scale.NORMAL))
                .hasMessage("'Tasks' must be a whole number from 1 to 100, was '101'");
    }

    @Test
    void everyMistakeIsToldAtOnce() {
        assertThatThrownBy(() -> Settings.of(PARAMETERS, Map.of("tasks", "0", "mills", "5"), Scale.NORMAL))
                .hasMessageContaining("'Tasks' must be a whole number from 1 to 100, was '0'")
                .hasMessageContaining("There is no parameter 'mills', only [tasks, millis]");
    }
}
