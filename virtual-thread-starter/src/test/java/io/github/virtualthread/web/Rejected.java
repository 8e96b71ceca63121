package io.github.virtualthread.web;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.springframework.core.task.TaskRejectedException;

/** Failures of requests: rejections, as what hands them on wraps them, and others. */
enum Rejected {
    ITSELF(rejection()),
    IN_COMPLETION(new CompletionException(rejection())),
    IN_EXECUTION(new ExecutionException(rejection())),
    IN_BOTH(new CompletionException(new ExecutionException(new CompletionException(rejection())))),
    OF_A_SUBCLASS(new LimitExceededException("Prices.find", null, Reason.SHUTDOWN) {}),
    WITHOUT_A_LEASE(new LimitExceededException("Prices.find", null, Reason.NO_LEASE)),
    OF_A_KEY(new LimitExceededException("Prices.find", null, Reason.KEY_QUEUE_FULL, "acme")),
    BY_OTHERS(new TaskRejectedException("the pool is full")),
    IN_ANOTHER(new IllegalStateException(rejection())),
    IN_ANOTHER_IN_COMPLETION(new CompletionException(new IllegalStateException(rejection()))),
    NOTHING_IN_COMPLETION(new CompletionException("nothing", null));

    final Exception failure;

    Rejected(Exception failure) {
        this.failure = failure;
    }

    private static LimitExceededException rejection() {
        return new LimitExceededException("Prices.find", null, Reason.SHUTDOWN);
    }
}
