package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.sample.lab.Latencies;
import java.util.concurrent.CompletableFuture;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;

/** A query that takes longer than its caller waits, and a short one of other callers under the same limit. */
@Service
class SlowQueries {

    /** JDBC counts whole seconds. */
    static final int QUERY_TIMEOUT_SECONDS = 1;

    private final JdbcTemplate jdbc;
    private final JdbcTemplate jdbcWithTimeout;

    SlowQueries(@Qualifier("scarceJdbc") JdbcTemplate jdbc) {
        this.jdbc = jdbc;
        jdbcWithTimeout = new JdbcTemplate(jdbc.getDataSource());
        jdbcWithTimeout.setQueryTimeout(QUERY_TIMEOUT_SECONDS);
    }

    // shown
    @VirtualThread(limit = "scarce", timeout = "${scarce.timeout}")
    CompletableFuture<Void> slow(String query, Latencies held) {
        return execute(jdbc, query, held);
    }

    @VirtualThread("scarce") // without a timeout of the call: that of JdbcTemplate ends the query
    CompletableFuture<Void> slowUntilQueryTimeout(String query, Latencies held) {
        return execute(jdbcWithTimeout, query, held);
    }

    private static CompletableFuture<Void> execute(JdbcTemplate jdbc, String query, Latencies held) {
        long begin = System.nanoTime();
        try {
            jdbc.execute(query);
        } finally {
            held.add(System.nanoTime() - begin); // now its permit goes back
        }
        return completedFuture(null);
    }

    @VirtualThread("scarce")
    CompletableFuture<Void> quick() {
        jdbc.execute("select 1");
        return completedFuture(null);
    }
    // shown
}
