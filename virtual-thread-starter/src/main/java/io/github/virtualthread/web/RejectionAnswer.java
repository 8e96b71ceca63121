package io.github.virtualthread.web;

import io.github.virtualthread.limit.LimitExceededException;
import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponse;
import org.springframework.web.ErrorResponseException;

/**
 * The answer to a web request whose call was rejected.
 *
 * @param status HTTP status, 4xx or 5xx; 0 to leave rejections to the application
 * @param retryAfter time after which the client should try again, not negative; zero for no such header
 */
public record RejectionAnswer(int status, Duration retryAfter) {

    private static final String DETAIL_CODE =
            ErrorResponse.getDefaultDetailMessageCode(LimitExceededException.class, null);

    /** Futures wrap the failure of their call, some more than once. Any other wrapper has a meaning of its own. */
    boolean covers(Throwable failure) {
        Throwable cause = failure;
        while (cause instanceof CompletionException || cause instanceof ExecutionException) {
            cause = cause.getCause();
        }
        return status != 0 && cause instanceof LimitExceededException;
    }

    /** The value of the header {@code Retry-After}, in whole seconds; null for none. */
    @Nullable
    String retryAfterSeconds() {
        boolean whole = Duration.ofSeconds(retryAfter.toSeconds()).equals(retryAfter);
        return retryAfter.isZero() ? null : String.valueOf(retryAfter.toSeconds() + (whole ? 0 : 1));
    }

    /** The same answer as a problem detail. It names neither limit nor method, because it goes to the client. */
    ErrorResponseException problem(Throwable failure) {
        String seconds = retryAfterSeconds();
        HttpStatusCode code = HttpStatusCode.valueOf(status);
        ProblemDetail body = ProblemDetail.forStatusAndDetail(
                code,
                "The request cannot be served now. Try again %s."
                        .formatted(seconds == null ? "later" : "in " + seconds + " s"));
        ErrorResponseException problem = new Problem(code, body, failure);
        if (seconds != null) {
            problem.getHeaders().set(HttpHeaders.RETRY_AFTER, seconds);
        }
        return problem;
    }

    /** Has no stack trace, because it is never thrown. */
    private static final class Problem extends ErrorResponseException {

        private static final long serialVersionUID = 1L;

        Problem(HttpStatusCode status, ProblemDetail body, Throwable failure) {
            super(status, body, failure, DETAIL_CODE, null);
        }

        @Override
        public Throwable fillInStackTrace() {
            return this;
        }
    }
}
