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

    private final JdbcTemplate jdbc;
    private final String slow;

    SlowQueries(@Qualifier("scarceJdbc") JdbcTemplate jdbc, ScarceServer server) {
        this.jdbc = jdbc;
        this.slow = server.slowQuery();
    }

    // shown
    @VirtualThread(limit = "scarce", timeout = "${scarce.timeout}")
    CompletableFuture<Void> slow(int seconds, Latencies held) {
        long begin = System.nanoTime();
        try {
            jdbc.execute(slow.formatted(seconds));
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
