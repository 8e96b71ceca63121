package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.test.context.TestPropertySource;

/** {@code @Async} and a pool of the application under limits, by properties alone. */
@ShopTest
@TestPropertySource(properties = {"virtual-thread.async.limit=many", "virtual-thread.async.executors.mailExecutor=one"})
@Import(AsyncTests.Mailer.class)
class AsyncTests {

    private static final Duration LONG = Duration.ofMinutes(2);

    @Autowired
    Mailer mailer;

    @Autowired
    TaskLimits limits;

    @Autowired
    @Qualifier("mailExecutor")
    Executor mailExecutor;

    @Test
    void aPoolIsAnExecutorOfItsLimit() {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        CompletableFuture<String> first = mailer.send(gate);
        CompletableFuture<String> second = mailer.send(completedFuture(null));
        assertThat(limits.get("one").waiting()).isOne();
        assertThat(second).isNotDone();

        gate.complete(null);

        assertThat(first).succeedsWithin(LONG).asString().startsWith("vt-Mailer.send-");
        assertThat(second).succeedsWithin(LONG).asString().startsWith("vt-Mailer.send-");
        assertThat(mailExecutor).hasToString("mailExecutor under limit 'one'");
    }

    @Test
    void methodsWithoutANameAreUnderTheCommonLimit() {
        CompletableFuture<Void> gate = new CompletableFuture<>();
        CompletableFuture<String> audit = mailer.audit(gate);
        assertThat(limits.get("many").inUse()).isPositive();

        gate.complete(null);

        assertThat(audit).succeedsWithin(LONG).asString().startsWith("vt-Mailer.audit-");
    }

    @Test
    void aCancelInterrupts() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        CompletableFuture<String> call = mailer.sleep(begun, interrupted);
        assertThat(begun.await(2, MINUTES)).isTrue();

        call.cancel(true);

        assertThat(interrupted.await(2, MINUTES)).isTrue();
    }

    @TestConfiguration
    @EnableAsync
    static class Executors {

        @Bean
        ThreadPoolTaskExecutor mailExecutor() {
            return new ThreadPoolTaskExecutor();
        }
    }

    static class Mailer {

        @Async("mailExecutor")
        public CompletableFuture<String> send(CompletableFuture<Void> gate) {
            gate.join();
            return completedFuture(Thread.currentThread().getName());
        }

        @Async
        public CompletableFuture<String> audit(CompletableFuture<Void> gate) {
            gate.join();
            return completedFuture(Thread.currentThread().getName());
        }

        @Async
        public CompletableFuture<String> sleep(CountDownLatch begun, CountDownLatch interrupted) {
            begun.countDown();
            try {
                new CountDownLatch(1).await(2, MINUTES);
            } catch (InterruptedException interruption) {
                interrupted.countDown();
            }
            return completedFuture("done");
        }
    }
}
