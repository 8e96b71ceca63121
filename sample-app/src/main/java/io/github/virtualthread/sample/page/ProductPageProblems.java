package io.github.virtualthread.sample.page;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.sample.catalog.UnknownProductException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Turns what goes wrong with a page, or with a new product, into an answer. */
@RestControllerAdvice
class ProductPageProblems {

    @ExceptionHandler
    ProblemDetail unknown(UnknownProductException exception) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, exception.getMessage());
    }

    /** The limit's queue was full, or the wait in it too long: the client had better come back than wait. */
    @ExceptionHandler
    ResponseEntity<ProblemDetail> busy(LimitExceededException exception) {
        var problem = ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, "Too busy, please try again");
        problem.setProperty("limit", exception.limit());
        problem.setProperty("reason", exception.reason());
        return ResponseEntity.of(problem).header(HttpHeaders.RETRY_AFTER, "1").build();
    }
}
