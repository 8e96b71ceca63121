package com.acme.weaving;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** Methods with {@code @Async} that Spring's own aspect runs, under a limit by a property. */
@Timeout(300)
class AsyncTests {

    private static final Duration LONG = Duration.ofMinutes(2);

    @Test
    void wovenMethodsAreUnderTheCommonLimit() {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(
                        WeavingApplication.class, WovenAsync.class)
                .web(WebApplicationType.NONE)
                .properties("virtual-thread.async.limit=single")
                .run()) {
            TaskLimits limits = context.getBean(TaskLimits.class);
            Later later = new Later(); // no bean: woven code needs none
            CompletableFuture<Void> gate = new CompletableFuture<>();

            CompletableFuture<String> first = later.run(gate);
            CompletableFuture<String> second = later.run(completedFuture(null));
            assertThat(limits.get("single").inUse()).isOne();
            assertThat(limits.get("single").waiting()).isOne();
            gate.complete(null);

            assertThat(first).succeedsWithin(LONG).asString().startsWith("vt-async-");
            assertThat(second).succeedsWithin(LONG);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(mode = AdviceMode.ASPECTJ)
    static class WovenAsync {}

    static class Later {

        @Async
        CompletableFuture<String> run(CompletableFuture<Void> gate) {
            gate.join();
            return completedFuture(Thread.currentThread().getName());
        }
    }
}
