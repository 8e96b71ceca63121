package io.github.virtualthread.sample.lab.experiment;

import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.dao.DataAccessException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Web requests that each ask the database with few connections. They are answered whether an experiment runs or not. */
@RestController
@RequestMapping("/lab/scarce")
class ScarceRequests {

    private final ObjectProvider<ScarceQueries> factory;
    private volatile ScarceQueries queries;

    ScarceRequests(ObjectProvider<ScarceQueries> factory) {
        this.factory = factory;
        this.queries = factory.getObject();
    }

    // shown
    @GetMapping("/plain")
    String plain(@RequestParam(defaultValue = "250") int millis) {
        queries.query(Requests.bounded(millis));
        return "done";
    }

    @GetMapping("/concurrency-limit")
    String concurrencyLimited(@RequestParam(defaultValue = "250") int millis) {
        queries.concurrencyLimited(Requests.bounded(millis));
        return "done";
    }

    @GetMapping("/virtual")
    CompletableFuture<String> virtual(@RequestParam(defaultValue = "250") int millis) {
        return queries.virtual(Requests.bounded(millis));
    }

    @GetMapping("/limited")
    String limited(@RequestParam(defaultValue = "250") int millis) {
        queries.limited(Requests.bounded(millis));
        return "done";
    }
    // shown

    /** The pool has another size: Spring's {@code @ConcurrencyLimit} cannot be changed, only be had anew. */
    void renew() {
        queries = factory.getObject();
    }

    /** Mostly one that waited for a connection in vain. A rejection of the limit is answered as on the product page, by 503. */
    @ExceptionHandler
    ProblemDetail failed(DataAccessException failure) {
        return ProblemDetail.forStatusAndDetail(
                HttpStatus.INTERNAL_SERVER_ERROR, failure.getMostSpecificCause().getMessage());
    }
}
