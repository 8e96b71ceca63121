package io.github.virtualthread.cluster;

import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Goodbyes for members that are dead: an operator waits for each, and the thread that exchanges says it. */
final class Removals {

    private static final int LONGEST = 5; // seconds

    private final Queue<Removal> waiting = new ConcurrentLinkedQueue<>();
    private final Runnable exchangeSoon;

    private record Removal(Claim goodbye, CompletableFuture<Answer> answer) {}

    Removals(Runnable exchangeSoon) {
        this.exchangeSoon = exchangeSoon;
    }

    /** Blocks until the engine has answered, for some seconds at most. */
    void add(Claim goodbye) {
        Removal removal = new Removal(goodbye, new CompletableFuture<>());
        waiting.add(removal);
        try {
            exchangeSoon.run();
            String refusal = removal.answer.get(LONGEST, TimeUnit.SECONDS).refusal();
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
        for (Removal next = waiting.poll(); next != null; next = waiting.poll()) {
            try {
                next.answer.complete(engine.exchange(List.of(next.goodbye)).getFirst());
            } catch (Throwable failure) {
                next.answer.completeExceptionally(failure);
            }
        }
    }
}
