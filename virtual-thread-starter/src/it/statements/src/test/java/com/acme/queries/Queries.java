package com.acme.queries;

import static java.util.concurrent.CompletableFuture.completedFuture;

import com.acme.queries.Calls.Query;
import io.github.virtualthread.VirtualThread;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;

/** Slow queries; each inserts a row before, which a transaction must not leave behind. */
class Queries {

    private final JdbcTemplate jdbc;
    private final Calls calls;

    Queries(JdbcTemplate jdbc, Calls calls) {
        this.jdbc = jdbc;
        this.calls = calls;
    }

    @VirtualThread("db")
    public CompletableFuture<Void> plain(Query query) {
        return run(query);
    }

    @VirtualThread(limit = "db", timeout = Calls.TIMEOUT)
    public CompletableFuture<Void> plainWithTimeout(Query query) {
        return run(query);
    }

    @Transactional
    @VirtualThread("db")
    public CompletableFuture<Void> transactional(Query query) {
        return runAfterInsert(query);
    }

    @Transactional
    @VirtualThread(limit = "db", timeout = Calls.TIMEOUT)
    public CompletableFuture<Void> transactionalWithTimeout(Query query) {
        return runAfterInsert(query);
    }

    @VirtualThread(limit = "db", timeout = Calls.LONG_TIMEOUT)
    public CompletableFuture<Void> plainWithLongTimeout(Query query) {
        return run(query);
    }

    @Transactional
    @VirtualThread(limit = "db", timeout = Calls.LONG_TIMEOUT)
    public CompletableFuture<Void> transactionalWithLongTimeout(Query query) {
        return runAfterInsert(query);
    }

    /** For bodies of all kinds. */
    @VirtualThread("db")
    public CompletableFuture<Void> body(Callable<?> body) throws Exception {
        body.call();
        return completedFuture(null);
    }

    private CompletableFuture<Void> runAfterInsert(Query query) {
        jdbc.update("insert into sold values (?)", query.number());
        return run(query);
    }

    private CompletableFuture<Void> run(Query query) {
        calls.runs(query);
        jdbc.execute((ConnectionCallback<Boolean>) (Connection connection) -> {
            try (Statement statement = connection.createStatement()) {
                return statement.execute(query.sql());
            }
        });
        return completedFuture(null);
    }
}
