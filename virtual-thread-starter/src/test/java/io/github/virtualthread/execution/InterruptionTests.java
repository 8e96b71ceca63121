package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Interrupts reach the body, and nothing else. */
@Timeout(300)
@Tag("jdk")
class InterruptionTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch running = new CountDownLatch(1);
    private final CountDownLatch go = test.latch();

    @Test
    void aContinuationIsNotInterruptedWhenTheBodySetTheFlagItself() {
        CompletableFuture<Boolean> flag = test.submit("db", () -> {
                    await(go);
                    Thread.currentThread().interrupt();
                    return null;
                })
                .thenApply(value -> Thread.currentThread().isInterrupted());

        go.countDown();

        assertThat(flag).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(false);
    }

    @Test
    void aFlagThatTheBodyLeftBehindDoesNotCancelTheFutureItReturns() {
        CompletableFuture<Object> inner = new CompletableFuture<>();
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        CompletableFuture<?> outer = test.submit("db", () -> {
            thread.complete(Thread.currentThread());
            Thread.currentThread().interrupt();
            return inner;
        });
        TestEngine.awaitParked(thread.join());

        inner.complete("value");

        assertThat(outer).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("value");
    }

    @Test
    void aTaskThatIsCancelledAndSwallowsTheInterruptHandsOverUndisturbed() {
        CompletableFuture<?> cancelled = test.holdStubbornly("db", go);
        CompletableFuture<?> next =
                test.submit("db", () -> Thread.currentThread().isInterrupted());

        cancelled.cancel(true);
        go.countDown();

        assertThat(next).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(false);
    }

    @Test
    void aCancelAfterTheBodyDoesNotInterruptAContinuation() {
        CountDownLatch inContinuation = new CountDownLatch(1);
        CountDownLatch cancelTried = new CountDownLatch(1);
        CompletableFuture<?> future = test.submit("db", () -> {
            await(go);
            return "value";
        });
        CompletableFuture<Boolean> flag = future.thenApply(value -> {
            inContinuation.countDown();
            await(cancelTried);
            return Thread.currentThread().isInterrupted();
        });
        go.countDown();
        await(inContinuation);

        assertThat(future.cancel(true)).isFalse();
        cancelTried.countDown();

        assertThat(flag).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(false);
    }

    @Test
    void aCallerWhoseFlagIsSetSubmitsAsUsual() {
        test.hold("db", go);
        Thread.currentThread().interrupt();

        CompletableFuture<?> waiting =
                test.submit("db", () -> Thread.currentThread().isInterrupted());
        CompletableFuture<?> free =
                test.submit(null, () -> Thread.currentThread().isInterrupted());

        assertThat(Thread.interrupted()).isTrue();
        go.countDown();
        assertThat(waiting).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(false);
        assertThat(free).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(false);
    }

    @Test
    void aBodyThatCancelsItsOwnFutureEndsAsUsual() {
        CompletableFuture<CompletableFuture<?>> self = new CompletableFuture<>();
        CompletableFuture<?> future = test.submit("db", () -> self.join().cancel(true));

        self.complete(future);

        assertThat(test.submit("db", () -> Thread.currentThread().isInterrupted()))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(false);
        assertThat(future).isCancelled();
    }

    @Test
    void anInterruptThatThrowsDoesNotKeepTheBodyFromEnding() {
        CompletableFuture<?> future = blockOnBrokenChannel();

        assertThat(future.cancel(true)).isTrue();

        assertThat(test.submit("db", () -> "next")).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void aLogThatFailsOnThatKeepsNobodyFromCancelling() {
        CompletableFuture<?> future = blockOnBrokenChannel();

        try (BrokenLog broken = new BrokenLog(InterruptibleCall.class)) {
            assertThat(future.cancel(true)).isTrue();
        }

        assertThat(test.submit("db", () -> "next")).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void aFutureThatRefusesToBeCancelledIsAwaitedThoughTheLogFails() {
        CompletableFuture<Object> refusing = new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                go.countDown();
                throw new UnsupportedOperationException();
            }
        };
        CompletableFuture<?> future = test.submit("db", () -> {
            running.countDown();
            return refusing;
        });
        await(running);
        Thread thread = test.thread("db");
        TestEngine.awaitParked(thread);

        try (BrokenLog broken = new BrokenLog(InterruptibleCall.class)) {
            future.cancel(true);
            await(go);
            TestEngine.awaitParked(thread);
        }

        assertThat(test.limit("db").available()).isZero();
        refusing.complete(null);
    }

    private CompletableFuture<?> blockOnBrokenChannel() {
        class Broken extends AbstractInterruptibleChannel {
            @Override
            protected void implCloseChannel() {
                go.countDown();
                throw new IllegalStateException("close");
            }

            void block() {
                begin();
                running.countDown();
                TestEngine.awaitStubbornly(go);
            }
        }
        CompletableFuture<?> future = test.submit("db", () -> {
            new Broken().block();
            return null;
        });
        await(running);
        return future;
    }

    @RepeatedTest(3)
    void cancelsThatRaceWithTheEndOfTheBodyNeverReachWhatFollows() {
        AtomicInteger interrupted = new AtomicInteger();
        for (int i = 0; i < 2_000; i++) {
            CountDownLatch ready = new CountDownLatch(1);
            CompletableFuture<?> future = test.submit("db", () -> {
                ready.countDown();
                return null;
            });
            CompletableFuture<?> next = test.submit("db", () -> {
                if (Thread.currentThread().isInterrupted()) {
                    interrupted.incrementAndGet();
                }
                return null;
            });
            future.whenComplete((value, failure) -> {
                if (Thread.currentThread().isVirtual() && Thread.currentThread().isInterrupted()) {
                    interrupted.incrementAndGet();
                }
            });
            await(ready);
            future.cancel(true);
            next.join();
        }
        TestEngine.awaitIdle(test); // what hangs on the last one may run still
        assertThat(interrupted).hasValue(0);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }
}
