package io.github.virtualthread.cluster;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** Goodbyes for members that are dead: an operator waits for each, and the thread that exchanges says it. */
final class Removals {

    private static final int LONGEST = 5; // seconds

    private final Queue<Consumer<ClusterEngine>> waiting = new ConcurrentLinkedQueue<>();
    private final Runnable exchangeSoon;

    Removals(Runnable exchangeSoon) {
        this.exchangeSoon = exchangeSoon;
    }

    /** Blocks until the engine has answered, for some seconds at most. */
    void add(Claim goodbye) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        Consumer<ClusterEngine> removal = engine -> {
            try {
                answer.complete(engine.exchange(List.of(goodbye)).getFirst());
            } catch (Throwable failure) {
                answer.completeExceptionally(failure);
            }
        };
        waiting.add(removal);
        try {
            exchangeSoon.run();
            String refusal = answer.get(LONGEST, TimeUnit.SECONDS).refusal();
            if (refusal != null) {
                throw new IllegalStateException(refusal);
            }
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while the engine was asked", stop);
        } catch (ExecutionException failure) {
            throw new IllegalStateException("The engine cannot be reached: " + failure.getCause(), failure.getCause());
        } catch (TimeoutException late) {
            throw new IllegalStateException(
                    "The engine has not answered for %d s: try again when it does".formatted(LONGEST), late);
        } finally {
            waiting.remove(removal);
        }
    }

    /** Says all that wait. If one fails, the operator who waits for it is told why. */
    void exchangeAll(ClusterEngine engine) {
        for (Consumer<ClusterEngine> next = waiting.poll(); next != null; next = waiting.poll()) {
            next.accept(engine);
        }
    }
}
