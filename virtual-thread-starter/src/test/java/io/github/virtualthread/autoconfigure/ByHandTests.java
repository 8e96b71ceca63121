package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.VirtualThreads;
import java.lang.reflect.Method;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Calls by hand in an application. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ByHandTests {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(
                    AutoConfigurations.of(VirtualThreadAutoConfiguration.class, TaskExecutionAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=1");

    @Test
    void callsByHandNeverUseTheDefaultLimit() {
        runner.withPropertyValues("virtual-thread.default-limit=db").run(context -> {
            VirtualThreads threads = context.getBean(VirtualThreads.class);
            CompletableFuture<String> gate = new CompletableFuture<>();
            CompletableFuture<?> held = threads.submit("db", gate::get);

            assertThat(threads.submit(() -> "ran")).succeedsWithin(2, TimeUnit.MINUTES);
            assertThat(threads.executor().submitCompletable(() -> "ran")).succeedsWithin(2, TimeUnit.MINUTES);
            gate.complete("");
            assertThat(held).succeedsWithin(2, TimeUnit.MINUTES);
        });
    }

    @Test
    void withInterceptionDisabledItWorksAllTheSame() {
        runner.withPropertyValues("virtual-thread.enabled=false").run(context -> {
            VirtualThreads threads = context.getBean(VirtualThreads.class);

            assertThat(threads.submit("db", () -> Thread.currentThread().isVirtual()))
                    .succeedsWithin(2, TimeUnit.MINUTES)
                    .isEqualTo(true);
        });
    }

    @Test
    void whatNobodyWaitsForFailsIntoTheHandlerOfTheApplication() {
        runner.withBean(Handler.class).run(context -> {
            IllegalStateException failure = new IllegalStateException("broken");
            context.getBean(VirtualThreads.class).execute("db", () -> {
                throw failure;
            });

            Handler handler = context.getBean(Handler.class);
            assertThat(handler.failure).succeedsWithin(2, TimeUnit.MINUTES).isSameAs(failure);
            assertThat(handler.method.join()).isEqualTo(VirtualThreads.class.getMethod("execute", Runnable.class));
        });
    }

    static class Handler implements AsyncUncaughtExceptionHandler {

        private final CompletableFuture<Throwable> failure = new CompletableFuture<>();
        private final CompletableFuture<Method> method = new CompletableFuture<>();

        @Override
        public void handleUncaughtException(Throwable ex, Method method, @Nullable Object... params) {
            this.method.complete(method);
            failure.complete(ex);
        }
    }
}
