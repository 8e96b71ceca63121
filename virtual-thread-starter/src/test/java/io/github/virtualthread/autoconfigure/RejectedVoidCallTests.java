package io.github.virtualthread.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitExceededException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.support.GenericApplicationContext;

/** What the log, and the application's own handler, hear of rejected calls that nobody waits for. */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class RejectedVoidCallTests {

    private static final int CALLS = 500;

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(VirtualThreadAutoConfiguration.class))
            .withPropertyValues("virtual-thread.limits.db.permits=1", "virtual-thread.limits.db.queue-capacity=0")
            .withBean(Mailer.class);

    private void whileFull(BiConsumer<GenericApplicationContext, VirtualThreads> calls) {
        runner.run(context -> {
            VirtualThreads threads = context.getBean(VirtualThreads.class);
            CountDownLatch gate = new CountDownLatch(1);
            threads.submit("db", () -> {
                gate.await();
                return null;
            });
            try {
                calls.accept(context.getSourceApplicationContext(GenericApplicationContext.class), threads);
            } finally {
                gate.countDown();
            }
        });
    }

    @Test
    void aThousandAreOneLineAndTheirNumberWithoutAStack(CapturedOutput output) {
        whileFull((context, threads) -> {
            for (int i = 0; i < CALLS; i++) {
                threads.execute("db", () -> {});
                context.getBean(Mailer.class).send();
            }
        });

        // at once, with those that came before its thread ran; and at the stop
        List<String> lines = output.getAll()
                .lines()
                .filter(line -> line.contains("rejected"))
                .toList();
        assertThat(lines)
                .hasSize(2)
                .allMatch(line -> line.contains("WARN") && line.contains("Limit 'db' has rejected "));
        assertThat(lines.stream().mapToInt(RejectedVoidCallTests::rejected).sum())
                .isEqualTo(1000);
        assertThat(output).doesNotContain("no caller waits").doesNotContain("LimitExceededException");
    }

    /** The number in a line such as {@code Limit 'db' has rejected 999 calls within 1 s}. */
    private static int rejected(String line) {
        String number = line.replaceFirst(".*has rejected (\\w+) calls?.*", "$1");
        return number.equals("a") ? 1 : Integer.parseInt(number);
    }

    @Test
    void theHandlerOfTheApplicationHearsOfEach() {
        Queue<Throwable> heard = new ConcurrentLinkedQueue<>();
        runner.withBean(AsyncUncaughtExceptionHandler.class, () -> new Handler(heard))
                .run(context -> {
                    context.getSourceApplicationContext(GenericApplicationContext.class)
                            .stop();
                    for (int i = 0; i < CALLS; i++) {
                        context.getBean(VirtualThreads.class).execute("db", () -> {});
                        context.getBean(Mailer.class).send();
                    }
                    await().atMost(Duration.ofMinutes(2))
                            .untilAsserted(() -> assertThat(heard).hasSize(2 * CALLS));
                });

        assertThat(heard).hasOnlyElementsOfType(LimitExceededException.class);
    }

    @Test
    void aBodyThatFailsBecauseAnotherCallIsRejectedIsAFailure(CapturedOutput output) {
        whileFull((context, threads) -> {
            threads.execute(() -> threads.executor("db").execute(() -> {}));
            context.getBean(Mailer.class).sendAll(() -> threads.executor("db").execute(() -> {}));

            await().atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(output)
                    .contains("RejectedVoidCallTests.lambda failed, and no caller waits for its result")
                    .contains("Mailer.sendAll failed, and no caller waits for its result"));
        });
    }

    static class Mailer {

        @VirtualThread("db")
        void send() {}

        @VirtualThread
        void sendAll(Runnable inner) {
            inner.run();
        }
    }

    record Handler(Queue<Throwable> heard) implements AsyncUncaughtExceptionHandler {

        @Override
        public void handleUncaughtException(Throwable ex, Method method, @Nullable Object... params) {
            heard.add(ex);
        }
    }
}
