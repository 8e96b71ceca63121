package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;

/** Queries on a pool of few connections. A bean in the JVM of the experiment only. */
class BurnQueries {

    private final DataSource pool;

    BurnQueries(DataSource pool) {
        this.pool = pool;
    }

    // shown
    @VirtualThread // each waits in the pool, on its own thread
    CompletableFuture<Void> unlimited(int millis) {
        return query(millis);
    }

    @VirtualThread("pool") // each waits in the queue of the limit, without a thread
    CompletableFuture<Void> limited(int millis) {
        return query(millis);
    }

    private CompletableFuture<Void> query(int millis) {
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("select 1");
            Thread.sleep(millis); // the rest of the query
            return completedFuture(null);
        } catch (SQLException | InterruptedException failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }
    // shown
}
