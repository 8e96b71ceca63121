package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import java.lang.reflect.Method;
import java.time.Duration;
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
import org.springframework.boot.test.system.CapturedOutput;
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
    void itIsInjectedByItsType() {
        runner.withBean(Orders.class).run(context -> assertThat(
                        context.getBean(Orders.class).thread().isVirtual())
                .isTrue());
    }

    @Test
    void annotatedMethodsAndCallsByHandShareThePermits() {
        runner.withBean(Prices.class).run(context -> {
            CompletableFuture<String> gate = new CompletableFuture<>();
            CompletableFuture<String> first = context.getBean(Prices.class).held(gate);
            CompletableFuture<String> second =
                    context.getBean(VirtualThreads.class).submit("db", () -> "second");

            assertThat(context.getBean(TaskLimits.class).get("db").waiting()).isEqualTo(1);
            gate.complete("first");
            assertThat(first).succeedsWithin(2, TimeUnit.MINUTES);
            assertThat(second).succeedsWithin(2, TimeUnit.MINUTES);
        });
    }

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
    void whatNobodyWaitsForFailsIntoTheLog(CapturedOutput output) {
        runner.run(context -> {
            VirtualThreads threads = context.getBean(VirtualThreads.class);
            threads.execute(() -> {
                throw new IllegalStateException("broken");
            });

            assertThat(threads.awaitIdle(Duration.ofMinutes(2))).isTrue();
            assertThat(output).contains("ByHandTests.lambda failed, and no caller waits for its result");
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

    static class Orders {

        private final VirtualThreads threads;

        Orders(VirtualThreads threads) {
            this.threads = threads;
        }

        Thread thread() throws Exception {
            return threads.submit("db", Thread::currentThread).get(2, TimeUnit.MINUTES);
        }
    }

    static class Prices {

        @VirtualThread("db")
        CompletableFuture<String> held(CompletableFuture<String> until) {
            return until;
        }
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
