package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/** Queries of web requests. */
class AbandonedQueries {

    /** Name of the request for a short query; all others are for a slow one. */
    static final String SHORT = "short";

    private final JdbcTemplate jdbc;
    private final AtomicInteger begun;

    /** Counts those that have begun. */
    AbandonedQueries(JdbcTemplate jdbc, AtomicInteger begun) {
        this.jdbc = jdbc;
        this.begun = begun;
    }

    // shown
    @VirtualThread("db")
    CompletableFuture<ServerResponse> answer(String query) {
        begun.incrementAndGet();
        jdbc.execute(query);
        return completedFuture(ServerResponse.ok().body("done"));
    }
    // shown

    /** Requests of a slow query, or of a short one. */
    record Requests(AbandonedQueries queries, String slow) implements DoorServer.Work {

        @Override
        public ServerResponse serve(ServerRequest request) {
            boolean isShort = request.param("request").filter(SHORT::equals).isPresent();
            return ServerResponse.async(queries.answer(isShort ? "select 1" : slow));
        }

        /** A query ends by itself. */
        @Override
        public void close() {}
    }
}
