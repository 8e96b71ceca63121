package io.github.virtualthread.examples.database;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** A pool of 5 connections and 60 queries at once: with permits from the pool none fails. */
@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        new SpringApplicationBuilder(Application.class)
                .properties(
                        "server.address=127.0.0.1", // nobody else reaches it
                        "spring.datasource.url=jdbc:h2:mem:;init=create alias sleep for 'java.lang.Thread.sleep(long)'",
                        "spring.datasource.hikari.maximum-pool-size=5",
                        "spring.datasource.hikari.connection-timeout=1000", // the pool lets no query wait longer
                        "virtual-thread.limits.db.permits-from=dataSource") // as many permits as connections
                .run(args);
    }

    @Service
    static class Queries {

        private final JdbcTemplate jdbc;

        Queries(JdbcTemplate jdbc) {
            this.jdbc = jdbc;
        }

        @VirtualThread("db") // waits for a permit; then a connection is free
        CompletableFuture<Boolean> limited() {
            return completedFuture(run());
        }

        @VirtualThread // no limit: waits for a connection, as long as the pool allows
        CompletableFuture<Boolean> unlimited() {
            return completedFuture(run());
        }

        private boolean run() {
            jdbc.execute("call sleep(200)"); // a query of 200 ms
            return true;
        }
    }

    @RestController
    static class Report {

        private final Queries queries;

        Report(Queries queries) {
            this.queries = queries;
        }

        @GetMapping("/limited")
        String limited() {
            return sixty(queries::limited);
        }

        @GetMapping("/unlimited")
        String unlimited() {
            return sixty(queries::unlimited);
        }

        private static String sixty(Supplier<CompletableFuture<Boolean>> query) {
            long begin = System.nanoTime();
            List<CompletableFuture<Boolean>> calls =
                    Stream.generate(query).limit(60).toList(); // each call returns at once
            long done = calls.stream()
                    .filter(call -> call.exceptionally(failure -> false).join())
                    .count();
            long millis = (System.nanoTime() - begin) / 1_000_000;
            return "60 queries: %d done, %d failed, %d ms\n".formatted(done, 60 - done, millis);
        }
    }
}
