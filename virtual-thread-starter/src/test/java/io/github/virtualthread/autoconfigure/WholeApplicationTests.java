package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** With everything that Spring Boot configures by itself, Actuator and Micrometer included. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class WholeApplicationTests {

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void noBeanIsTakenOutOfPostProcessing(boolean observed, CapturedOutput output) {
        try (ConfigurableApplicationContext context =
                start("--virtual-thread.limits.db.permits=2", "--virtual-thread.observation.enabled=" + observed)) {
            assertThat(context.getBean(Prices.class).thread().join().isVirtual())
                    .isTrue();
        }

        assertThat(output)
                .doesNotContain("not eligible for getting processed by all BeanPostProcessors")
                .doesNotContain("has failed on a call");
    }

    @Test
    void theStartTellsInOneLineWhatIsThere(CapturedOutput output) {
        start("--virtual-thread.limits.db.permits=2", "--virtual-thread.limits.db.max-wait=1500ms")
                .close();

        assertThat(output)
                .contains("Virtual threads: 2 annotated methods, 1 of them without a limit;"
                        + " limits db (2 permits, unbounded queue, wait up to 1.5s);"
                        + " propagated: MDC, registered context, authentication");
        if (Runtime.version().feature() < 24) {
            assertThat(output).contains("blocking inside synchronized pins the carrier");
        } else {
            assertThat(output).doesNotContain("pins the carrier");
        }
    }

    private static ConfigurableApplicationContext start(String... arguments) {
        return new SpringApplicationBuilder(Application.class)
                .web(WebApplicationType.NONE)
                .run(arguments);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAutoConfiguration
    static class Application {

        @Bean
        Prices prices() {
            return new Prices();
        }
    }

    static class Prices {

        @VirtualThread("db")
        public CompletableFuture<Thread> thread() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        @VirtualThread
        public CompletableFuture<Thread> unlimited() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }
}
