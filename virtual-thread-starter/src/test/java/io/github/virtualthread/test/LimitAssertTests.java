package io.github.virtualthread.test;

import static io.github.virtualthread.test.LimitAssert.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.config.EnableVirtual;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opentest4j.AssertionFailedError;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Timeout(300)
class LimitAssertTests {

    private static final Duration MINUTES = Duration.ofMinutes(2);

    private final AnnotationConfigApplicationContext context =
            new AnnotationConfigApplicationContext(Application.class);
    private final VirtualThreads threads = context.getBean(VirtualThreads.class);
    private final TaskLimit db = context.getBean(TaskLimits.class).get("db");
    private final CountDownLatch gate = new CountDownLatch(1);

    @AfterEach
    void close() {
        gate.countDown();
        context.close();
    }

    @Test
    void theNumbersAreExactAfterCallsWereSubmittedAndJoined() {
        CompletableFuture<Object> first = submit();
        assertThat(db).hasAvailable(1).hasInUse(1).hasWaiting(0);

        CompletableFuture<Object> second = submit();
        CompletableFuture<Object> third = submit();
        assertThat(db).hasAvailable(0).hasInUse(2).hasWaiting(1);

        gate.countDown();
        CompletableFuture.allOf(first, second, third).join();
        assertThat(db).isIdle().hasAvailable(2);
    }

    @Test
    void aFailureShowsAllNumbers() {
        CompletableFuture<Object> running = submit();

        assertThatThrownBy(() -> assertThat(db).hasAvailable(2))
                .hasMessage("Expected limit 'db' to have 2 available, but it has 1 of 2 permits available, 1 in use,"
                        + " 0 calls waiting")
                .isInstanceOfSatisfying(AssertionFailedError.class, failure -> {
                    assertThat(failure.getActual().getValue()).isEqualTo(1);
                    assertThat(failure.getExpected().getValue()).isEqualTo(2);
                });
        assertThatThrownBy(() -> assertThat(db).hasInUse(0))
                .hasMessageContaining("to have 0 in use, but it has 1 of 2");
        assertThatThrownBy(() -> assertThat(db).hasWaiting(3)).hasMessageContaining("to have 3 waiting, but it has");
        assertThatThrownBy(() -> assertThat(db).isIdle())
                .hasMessageContaining("Expected limit 'db' to be idle, but it has 1 of 2 permits available, 1 in use");
        assertThatThrownBy(() -> assertThat(db).as("after the order").isIdle())
                .hasMessageStartingWith("[after the order] ");
        assertThat(running).isNotDone();
    }

    @Test
    void anOccupiedLimitHasNoPermitsAndMayBeIdle() {
        try (Occupation occupied = db.occupy()) {
            assertThat(db).isIdle().hasAvailable(0).hasInUse(0);
            CompletableFuture<Object> waiting = submit();
            assertThatThrownBy(() -> assertThat(db).isIdle())
                    .hasMessageEndingWith("0 of 2 permits available, 0 in use, 1 calls waiting, and is occupied");
            gate.countDown();
            assertThat(waiting).isNotDone();
        }
        assertThat(db).becomesIdleWithin(MINUTES);
    }

    @Test
    void itIsWaitedUntilTheLimitIsIdle() {
        CountDownLatch waits = new CountDownLatch(1);
        threads.execute("db", () -> await(gate));
        Thread.ofVirtual().start(() -> {
            await(waits);
            gate.countDown();
        });
        waits.countDown();

        assertThat(db).becomesIdleWithin(MINUTES).hasAvailable(2);
    }

    @Test
    void theWaitEndsWithItsTimeAndWithAnInterrupt() {
        threads.execute("db", () -> await(gate));

        assertThatThrownBy(() -> assertThat(db).becomesIdleWithin(Duration.ZERO))
                .hasMessageContaining("to be idle");
        assertThatThrownBy(() -> assertThat(db).becomesIdleWithin(Duration.ofMillis(2)))
                .hasMessageContaining("to be idle");
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> assertThat(db).becomesIdleWithin(MINUTES)).hasMessageContaining("to be idle");
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void moreConcurrentCallsThanPermitsAreFound() {
        ConcurrentCalls calls = new ConcurrentCalls();
        var first = calls.enter();
        var second = calls.enter();
        assertThat(db).wasNeverExceededBy(calls);

        var third = calls.enter();
        third.close();
        third.close();
        assertThat(calls.now()).isEqualTo(2);
        second.close();
        first.close();
        assertThat(calls.now()).isZero();
        assertThat(calls.most()).isEqualTo(3);
        assertThatThrownBy(() -> assertThat(db).wasNeverExceededBy(calls))
                .hasMessage(
                        "Expected at most 2 concurrent calls, the permits of limit 'db', but there were 3: some do not pass"
                                + " the limit");
    }

    @Test
    void nullFailsAsWithAllAssertions() {
        assertThatThrownBy(() -> LimitAssert.assertThat(null).isIdle())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("not to be null");
    }

    private CompletableFuture<Object> submit() {
        return threads.submit("db", () -> {
            gate.await();
            return "";
        });
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableVirtual
    static class Application {

        @Bean
        LimitSettings db() {
            return LimitSettings.of("db", 2);
        }
    }
}
