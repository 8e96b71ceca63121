package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Scope;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.stereotype.Service;

/** A query that takes its time, in the ways in which a service may be called. */
@Service
@Scope("prototype") // each has its own @ConcurrencyLimit, which is read once
class ScarceQueries {

    private final JdbcTemplate jdbc;
    private final String sleep;

    ScarceQueries(@Qualifier("scarceJdbc") JdbcTemplate jdbc, @Value("${scarce.query}") String sleep) {
        this.jdbc = jdbc;
        this.sleep = sleep;
    }

    // shown
    void query(int millis) {
        jdbc.execute(sleep.formatted(millis));
    }

    @ConcurrencyLimit(limitString = "#{scarcePool.connections()}")
    void concurrencyLimited(int millis) {
        query(millis);
    }

    @VirtualThread("scarce")
    CompletableFuture<String> virtual(int millis) {
        query(millis);
        return completedFuture("done");
    }

    @Limited("scarce")
    void limited(int millis) {
        query(millis);
    }
    // shown
}
