package io.github.virtualthread.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.autoconfigure.VirtualThreadAutoConfiguration;
import io.github.virtualthread.limit.KeyWeight;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What the log says of a bean that weighs keys. */
@ExtendWith(OutputCaptureExtension.class)
class ReportedWeightTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.api.permits=1");

    private static double weight(String key) {
        return switch (key) {
            case "much" -> 1000;
            case "little" -> 0.01;
            case "gold" -> 3;
            default -> throw new StackOverflowError("no plan of " + key);
        };
    }

    @Test
    void theFirstThatCannotBeUsedIsLoggedWithoutItsKey(CapturedOutput output) {
        runner.withBean(KeyWeight.class, () -> (limit, key) -> weight(key)).run(context -> {
            TaskLimit api = context.getBean(TaskLimits.class).get("api");

            assertThat(api.weight("gold")).isEqualTo(3);
            assertThat(output).doesNotContain("The weight of a key");
            assertThat(api.weight("much")).isEqualTo(10);
            assertThat(api.weight("little")).isEqualTo(0.1);
            assertThat(api.weight("acme")).isEqualTo(1);
            assertThat(output)
                    .containsOnlyOnce("The weight of a key of limit 'api' by ")
                    .contains("was 1000.0. It must be from 0.1 to 10.0: the nearest is used, and 1 after a failure.")
                    .doesNotContain("acme");
        });
    }

    @Test
    void aFailureIsLogged(CapturedOutput output) {
        runner.withBean(KeyWeight.class, () -> (limit, key) -> weight(key)).run(context -> {
            assertThat(context.getBean(TaskLimits.class).get("api").weight("acme"))
                    .isEqualTo(1);
            assertThat(output).contains(" failed with java.lang.StackOverflowError: no plan of acme. It must be");
        });
    }
}
