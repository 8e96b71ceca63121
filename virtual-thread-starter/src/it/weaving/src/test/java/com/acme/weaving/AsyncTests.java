package com.acme.weaving;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskExecutor;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** Methods with {@code @Async} that Spring's own aspect runs, under a limit by a property. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
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

    @Test
    void theStartTellsOfWovenMethods(CapturedOutput output) {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(
                        WeavingApplication.class, WovenAsync.class, WithPrivate.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "virtual-thread.async.limit=impatient",
                        "virtual-thread.limits.impatient.permits=1",
                        "virtual-thread.limits.impatient.max-wait=1h")
                .run()) {
            assertThat(context.isRunning()).isTrue();
            assertThat(output)
                    .contains(
                            "@Async: 2 methods under limit impatient",
                            "Woven @Async is under limit 'impatient', which has a max-wait. No AsyncUncaughtExceptionHandler");
        }
    }

    /** As Spring's aspect, which has no executor to fall back to. */
    @Test
    void theStartTellsOfMethodsWithoutAnExecutor(CapturedOutput output) {
        try (ConfigurableApplicationContext context = new SpringApplicationBuilder(
                        WeavingApplication.class, WovenAsync.class, WithPrivate.class, TwoExecutors.class)
                .web(WebApplicationType.NONE)
                .properties("virtual-thread.async.executors.one=single")
                .run()) {
            assertThat(context.isRunning()).isTrue();
            assertThat(output).contains("WithPrivate.all runs on the thread of its caller");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableAsync(mode = AdviceMode.ASPECTJ)
    static class WovenAsync {}

    @Configuration(proxyBeanMethods = false)
    static class TwoExecutors {

        @Bean
        TaskExecutor one() {
            return new SimpleAsyncTaskExecutor();
        }

        @Bean
        TaskExecutor two() {
            return new SimpleAsyncTaskExecutor();
        }
    }

    static class WithPrivate {

        @Async
        void all() {
            one();
        }

        @Async
        private void one() {}
    }

    static class Later {

        @Async
        CompletableFuture<String> run(CompletableFuture<Void> gate) {
            gate.join();
            return completedFuture(Thread.currentThread().getName());
        }
    }
}
