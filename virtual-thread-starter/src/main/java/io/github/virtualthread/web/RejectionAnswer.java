package io.github.virtualthread.web;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.CallCancelledException;
import io.github.virtualthread.limit.CallTimeoutException;
import io.github.virtualthread.limit.LimitExceededException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponse;
import org.springframework.web.ErrorResponseException;

/**
 * The answer to a web request whose call was rejected, has timed out or was cancelled.
 *
 * @param to what is answered
 * @param status HTTP status, 4xx or 5xx; 0 to leave such failures to the application
 * @param retryAfter time after which the client should try again, not negative; zero for no such header
 */
@Internal
public record RejectionAnswer(Class<? extends Exception> to, int status, Duration retryAfter) {

    /** What a client is told to wait if the wait of a call is known, and longer. */
    private static final Duration LONGEST_RETRY_AFTER = Duration.ofMinutes(1);

    /**
     * Creates the answer to rejected calls.
     *
     * @param status HTTP status, 4xx or 5xx; 0 to leave rejections to the application
     * @param retryAfter time after which the client should try again, not negative; zero for no such header
     */
    public RejectionAnswer(int status, Duration retryAfter) {
        this(LimitExceededException.class, status, retryAfter);
    }

    /**
     * Returns the answer to a failure, null for none. Futures wrap the failure of their call, some more than once, and Reactor's
     * schedulers wrap a rejection, newer JDKs a cancellation. Any other wrapper has a meaning of its own.
     */
    static @Nullable RejectionAnswer to(Throwable failure, List<RejectionAnswer> answers) {
        Throwable cause = failure;
        while (cause instanceof CompletionException
                || cause instanceof ExecutionException
                || (cause instanceof RejectedExecutionException && cause.getCause() instanceof LimitExceededException)
                || (cause instanceof CancellationException && cause.getCause() instanceof CallCancelledException)) {
            cause = cause.getCause();
        }
        for (RejectionAnswer answer : answers) {
            if (answer.status != 0 && answer.to.isInstance(cause)) {
                return answer.after(cause);
            }
        }
        return null;
    }

    /** Whether a failure is, or was caused by, a call that was rejected, has timed out or was cancelled. */
    static boolean isCausedByUs(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof LimitExceededException
                    || cause instanceof CallTimeoutException
                    || cause instanceof CallCancelledException) {
                return true;
            }
        }
        return false;
    }

    /** The same answer with the time after which this call would be served. */
    RejectionAnswer after(@Nullable Throwable failure) {
        Duration expected = null;
        if (failure instanceof LimitExceededException rejection) {
            expected = rejection.expectedWait().orElse(null);
        }
        if (expected == null || retryAfter.isZero()) {
            return this;
        }
        Duration wait = expected.compareTo(LONGEST_RETRY_AFTER) < 0 ? expected : LONGEST_RETRY_AFTER;
        return new RejectionAnswer(to, status, wait);
    }

    /** Sets the header {@code Retry-After}, if the client should try again. */
    void setRetryAfter(BiConsumer<String, String> headers) {
        if (!retryAfter.isZero()) {
            headers.accept(HttpHeaders.RETRY_AFTER, seconds());
        }
    }

    /** In whole seconds. */
    private String seconds() {
        return String.valueOf(retryAfter.plusSeconds(1).minusNanos(1).toSeconds());
    }

    /** The same answer as a problem detail. It names neither limit nor method, because it goes to the client. */
    ErrorResponseException problem(Throwable failure) {
        HttpStatusCode code = HttpStatusCode.valueOf(status);
        String detail = "The request took too long.";
        if (to != CallTimeoutException.class) {
            String later = retryAfter.isZero() ? "later" : "in " + seconds() + " s";
            detail = "The request cannot be served now. Try again %s.".formatted(later);
        }
        ProblemDetail body = ProblemDetail.forStatusAndDetail(code, detail);
        ErrorResponseException problem =
                new Problem(code, body, failure, ErrorResponse.getDefaultDetailMessageCode(to, null));
        setRetryAfter(problem.getHeaders()::set);
        return problem;
    }

    /** Has no stack trace, because it is never thrown. */
    private static final class Problem extends ErrorResponseException {

        Problem(HttpStatusCode status, ProblemDetail body, Throwable failure, String detailCode) {
            super(status, body, failure, detailCode, null);
        }

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }
}
