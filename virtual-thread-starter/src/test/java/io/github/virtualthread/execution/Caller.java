package io.github.virtualthread.execution;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A thread that makes one call under a limit, itself. */
final class Caller {

    final CompletableFuture<@Nullable Object> outcome = new CompletableFuture<>();
    final Thread thread;

    private Caller(Thread.Builder builder, TestEngine test, String limit, TaskBody body) {
        TaskSpec spec = test.engine.spec("Test.call", limit);
        thread = builder.start(() -> {
            try {
                outcome.complete(test.engine.call(spec, body));
            } catch (Throwable failure) {
                outcome.completeExceptionally(failure);
            }
        });
    }

    static Caller virtual(TestEngine test, String limit, TaskBody body) {
        return new Caller(Thread.ofVirtual(), test, limit, body);
    }

    static Caller platform(TestEngine test, String limit, TaskBody body) {
        return new Caller(Thread.ofPlatform().daemon(), test, limit, body);
    }

    /** Waits until the limit has so many waiting calls, and this is parked as the last of them. */
    Caller waiting(TestEngine test, String limit, int number) {
        awaitWaiting(test, limit, number);
        long begin = System.nanoTime();
        while (thread.getState() != Thread.State.WAITING && thread.getState() != Thread.State.TIMED_WAITING) {
            if (System.nanoTime() - begin > TestEngine.ENOUGH.toNanos()) {
                throw new AssertionError("not parked but " + thread.getState());
            }
            Thread.yield();
        }
        return this;
    }

    static void awaitWaiting(TestEngine test, String limit, int number) {
        long begin = System.nanoTime();
        while (test.limit(limit).waiting() != number) {
            if (System.nanoTime() - begin > TestEngine.ENOUGH.toNanos()) {
                throw new AssertionError(test.limit(limit).waiting() + " calls wait, not " + number);
            }
            Thread.yield();
        }
    }
}
