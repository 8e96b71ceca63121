package io.github.virtualthread.sample.page;

import io.github.virtualthread.sample.catalog.UnknownProductException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Turns what goes wrong with a page into an answer. A call that its limit rejects is answered 503 by the starter. */
@RestControllerAdvice
class ProductPageProblems {

    @ExceptionHandler
    ProblemDetail unknown(UnknownProductException exception) {
        return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, exception.getMessage());
    }
}
