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
 * How a web request is answered whose call was rejected.
 *
 * @param status status of the answer, 4xx or 5xx; 0 if rejections are left to the application
 * @param retryAfter when the client should come back, not negative; zero for no such header
 */
public record RejectionAnswer(int status, Duration retryAfter) {

    private static final String DETAIL_CODE =
            ErrorResponse.getDefaultDetailMessageCode(LimitExceededException.class, null);

    /** Futures wrap what their call has failed with, some more than once. Any other wrapper means something by it. */
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

    /** The same answer in the form that handlers of problem details understand. It names neither limit nor method. */
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

    /** Without a stack: it is never thrown. */
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
