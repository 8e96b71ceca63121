package io.github.virtualthread.context;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.context.ContextPropagationTests.Kind;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

/** What there may be to carry, and what a task tells of it. */
@Tag("jdk")
class OptionalContextTests {

    @AfterEach
    void clearMdc() {
        MDC.clear();
    }

    @Test
    void librariesAreThereWhereTheApplicationHasThem() {
        ClassLoader application = getClass().getClassLoader();
        ClassLoader none = ClassLoader.getPlatformClassLoader();

        assertThat(ContextPropagation.isContextRegistryPresent(application)).isTrue();
        assertThat(ContextPropagation.isContextRegistryPresent(none)).isFalse();
        assertThat(ContextPropagation.isSecurityPresent(application)).isTrue();
        assertThat(ContextPropagation.isSecurityPresent(none)).isFalse();
    }

    @Test
    void theMdcThatWasCapturedCanBeShown() {
        MDC.put("order", "4711");

        CapturedContext captured = ContextPropagation.none().withMdc().capture();
        CapturedContext joined = ContextPropagation.none()
                .withMdc()
                .with(new Kind(() -> () -> {}))
                .capture();
        MDC.clear();

        assertThat(captured.mdc()).isEqualTo(Map.of("order", "4711"));
        assertThat(joined.mdc()).isEqualTo(Map.of("order", "4711"));
    }
}
