package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Whether a failure shows the caller of an annotated method. */
@Timeout(300)
class CallerTracePropertyTests {

    private final CompletableFuture<Throwable> handled = new CompletableFuture<>();

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withBean(
                    AsyncUncaughtExceptionHandler.class,
                    () -> (failure, method, arguments) -> handled.complete(failure))
            .withBean(Prices.class);

    @Test
    void failuresShowNoCallerUnlessAskedTo() {
        runner.run(context ->
                assertThat(failureOf(context.getBean(Prices.class).broken())).hasNoSuppressedExceptions());
    }

    @Test
    void failuresShowTheCallerOfTheMethod() {
        runner.withPropertyValues("virtual-thread.caller-trace=true").run(context -> {
            Prices prices = context.getBean(Prices.class);
            prices.order();

            assertCaller(failureOf(prices.broken()), "Prices.broken");
            assertCaller(handled.orTimeout(2, TimeUnit.MINUTES).join(), "Prices.order");
        });
    }

    private static void assertCaller(Throwable failure, String method) {
        assertThat(failure.getSuppressed()).singleElement().satisfies(caller -> {
            assertThat(caller)
                    .hasMessage(
                            "%s was called here, on thread %s",
                            method, Thread.currentThread().getName());
            assertThat(caller.getStackTrace())
                    .extracting(StackTraceElement::getClassName)
                    .contains(CallerTracePropertyTests.class.getName());
        });
    }

    private static Throwable failureOf(CompletableFuture<?> future) {
        return future.handle((value, failure) -> failure)
                .orTimeout(2, TimeUnit.MINUTES)
                .join();
    }

    static class Prices {

        @VirtualThread
        public CompletableFuture<String> broken() {
            throw new IllegalStateException("broken");
        }

        @VirtualThread
        public void order() {
            throw new IllegalStateException("broken");
        }
    }
}
