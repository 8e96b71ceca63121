package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/** The future that a body returned: its call ends when that future does. */
final class ReturnedFuture {

    private static final Logger logger = LoggerFactory.getLogger(ReturnedFuture.class);

    private ReturnedFuture() {}

    static boolean isFuture(Object value) {
        return value instanceof Future<?> || value instanceof CompletionStage<?>;
    }

    /**
     * Waits for it. An interrupt cancels it, and the wait goes on.
     *
     * @param returned the future
     * @param interrupted whether it is to be cancelled at once
     * @return its value
     * @throws Throwable as what the future failed with
     */
    static @Nullable Object get(Object returned, boolean interrupted) throws Throwable {
        Future<?> awaited = returned instanceof CompletionStage<?> stage ? asFuture(stage) : (Future<?>) returned;
        boolean cancels = interrupted;
        while (true) {
            if (cancels) {
                cancel(returned);
            }
            try {
                return awaited.get();
            } catch (InterruptedException cancelled) {
                cancels = true;
            } catch (ExecutionException failed) {
                throw failed.getCause() == null ? failed : failed.getCause();
            }
        }
    }

    /** Cancels what the body returned, and not our view of it, because the call ends when that future does. */
    private static void cancel(Object returned) {
        if (returned instanceof Future<?> future) {
            try {
                future.cancel(true);
            } catch (RuntimeException refused) {
                SafeLog.write(
                        logger,
                        Level.DEBUG,
                        "{} could not be cancelled; the call still waits for it",
                        future,
                        null,
                        refused);
            }
        }
    }

    /** A minimal stage is a {@link CompletableFuture} that cannot be waited for; other stages need not be futures at all. */
    private static Future<?> asFuture(CompletionStage<?> stage) {
        if (stage instanceof CompletableFuture<?> future) {
            return future.toCompletableFuture();
        }
        CompletableFuture<@Nullable Object> future = new CompletableFuture<>();
        stage.whenComplete((value, failure) -> {
            if (failure == null) {
                future.complete(value);
            } else {
                future.completeExceptionally(failure);
            }
        });
        return future;
    }
}
