package io.github.virtualthread.web;

import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.CallTimeoutException.Kind;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.springframework.core.task.TaskRejectedException;

/** Failures of requests: rejections and timeouts, as what hands them on wraps them, and others. */
enum Rejected {
    ITSELF(rejection()),
    IN_COMPLETION(new CompletionException(rejection())),
    IN_EXECUTION(new ExecutionException(rejection())),
    IN_BOTH(new CompletionException(new ExecutionException(new CompletionException(rejection())))),
    OF_A_SUBCLASS(new LimitExceededException("Prices.find", null, Reason.SHUTDOWN) {}),
    WITHOUT_A_LEASE(new LimitExceededException("Prices.find", null, Reason.NO_LEASE)),
    OF_A_KEY(new LimitExceededException("Prices.find", null, Reason.KEY_QUEUE_FULL, "acme")),
    TIMED_OUT(timeout()),
    TIMED_OUT_IN_BOTH(new CompletionException(new ExecutionException(timeout()))),
    BY_OTHERS(new TaskRejectedException("the pool is full")),
    TIMED_OUT_BY_OTHERS(new ExecutionException(new TimeoutException("nobody answers"))),
    IN_ANOTHER(new IllegalStateException(rejection())),
    IN_ANOTHER_IN_COMPLETION(new CompletionException(new IllegalStateException(rejection()))),
    NOTHING_IN_COMPLETION(new CompletionException("nothing", null));

    final Exception failure;

    Rejected(Exception failure) {
        this.failure = failure;
    }

    static Set<Rejected> rejections() {
        return EnumSet.range(ITSELF, OF_A_KEY);
    }

    static Set<Rejected> timeouts() {
        return EnumSet.of(TIMED_OUT, TIMED_OUT_IN_BOTH);
    }

    static Set<Rejected> others() {
        return EnumSet.range(BY_OTHERS, NOTHING_IN_COMPLETION);
    }

    private static LimitExceededException rejection() {
        return new LimitExceededException("Prices.find", null, Reason.SHUTDOWN);
    }

    private static CallTimeoutException timeout() {
        return new CallTimeoutException("Prices.find", "db", Kind.DEADLINE, Duration.ofSeconds(2), true);
    }
}
