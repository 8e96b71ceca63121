package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;

/** What users hang on the future of a task. */
@Timeout(300)
@Tag("jdk")
class ContinuationTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch go = test.latch();

    @Test
    void runsOnTheThreadOfTheTaskAfterThePermitIsBack() {
        AtomicReference<@Nullable Thread> body = new AtomicReference<>();
        CompletableFuture<?> future = test.submit("db", () -> {
            await(go);
            body.set(Thread.currentThread());
            return null;
        });
        CompletableFuture<String> seen = future.thenApply(value ->
                (Thread.currentThread() == body.get()) + " " + test.limit("db").available());

        go.countDown();

        assertThat(seen).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("true 1");
    }

    @Test
    void seesTheContextOfTheCaller() {
        MDC.put("user", "alice");
        CompletableFuture<?> future = test.submit("db", () -> {
            await(go);
            return null;
        });
        CompletableFuture<String> seen = future.thenApply(value -> MDC.get("user"));
        MDC.put("user", "bob");

        go.countDown();

        assertThat(seen).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("alice");
    }

    @Test
    void mayWaitForACallUnderTheSameLimit() {
        CompletableFuture<?> future = test.submit("db", () -> {
            await(go);
            return "first";
        });
        CompletableFuture<String> both = future.thenApply(
                value -> value + " " + test.submit("db", () -> "second").join());

        go.countDown();

        assertThat(both).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("first second");
    }

    @Test
    void mayBlockTheThreadThatCancelsWithoutHoldingUpTheInterrupt() {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        CompletableFuture<?> future = test.submit("db", () -> {
            running.countDown();
            try {
                go.await();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
            return "swallowed";
        });
        await(running);
        CompletableFuture<Void> hanging = future.handle((value, failure) -> {
            await(interrupted);
            return null;
        });

        assertThat(future.cancel(true)).isTrue();

        assertThat(hanging).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(future).isCancelled();
    }

    @Test
    void mayThrowWithoutHarmToTheLimit() {
        CompletableFuture<?> future = test.submit("db", () -> {
            await(go);
            return null;
        });
        CompletableFuture<?> broken = future.thenRun(() -> {
            throw new AssertionError("continuation");
        });

        go.countDown();

        TestEngine.assertFails(broken);
        assertThat(future).isCompleted();
        assertThat(test.submit("db", () -> "next")).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void mayBlockWithoutHarmToTheLimit() {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        test.submit("db", () -> {
                    await(go);
                    return null;
                })
                .thenRun(() -> {
                    blocked.countDown();
                    await(release);
                });
        CompletableFuture<?> next = test.submit("db", () -> "next");

        go.countDown();
        await(blocked);

        assertThat(next).succeedsWithin(2, TimeUnit.MINUTES);
        release.countDown();
    }

    @Test
    void ofAnExpiredCallMayBlockWithoutStoppingTheExpiryOfOthers() {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        test.hold("db", go);
        test.submit("db", () -> null).whenComplete((value, failure) -> {
            blocked.countDown();
            await(release);
        });
        CompletableFuture<?> other = test.submit("db", () -> null);

        test.limit("db").setMaxWait(Duration.ofMillis(20)); // not earlier: the callback is to run with the expiry

        await(blocked);
        TestEngine.assertFails(other);
        TestEngine.assertFails(test.submit("db", () -> null));
        release.countDown();
    }

    @Test
    void ofACancelledCallMayBlockWithoutKeepingThePlaceInTheQueue() {
        test.hold("db", go);
        CompletableFuture<?> waiting = test.submit("db", () -> null);
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        waiting.whenComplete((value, failure) -> {
            blocked.countDown();
            await(release);
        });

        Thread.ofVirtual().start(() -> waiting.cancel(true));
        await(blocked);

        assertThat(test.limit("db").waiting()).isZero();
        release.countDown();
    }
}
