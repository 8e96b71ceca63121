package io.github.virtualthread.docs.rejections;

import static org.springframework.http.HttpStatus.SERVICE_UNAVAILABLE;
import static org.springframework.http.HttpStatus.TOO_MANY_REQUESTS;

import io.github.virtualthread.limit.LimitExceededException;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

// example: Busy
@RestControllerAdvice
class Busy {

    @ExceptionHandler
    ResponseEntity<ProblemDetail> busy(LimitExceededException exception) {
        var status = exception.limit().equals("search") ? TOO_MANY_REQUESTS : SERVICE_UNAVAILABLE;
        var problem = ProblemDetail.forStatusAndDetail(status, "Too busy, please try again");
        problem.setProperty("reason", exception.reason());
        return ResponseEntity.of(problem).header(HttpHeaders.RETRY_AFTER, "1").build();
    }
}
// end
