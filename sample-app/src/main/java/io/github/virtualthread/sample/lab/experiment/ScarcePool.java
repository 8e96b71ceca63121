package io.github.virtualthread.sample.lab.experiment;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.jdbc.CancellableDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A pool of few connections, whose size and patience can be chosen. A pool reads the longest wait for a connection when it is
 * made, so there is one for each.
 */
final class ScarcePool extends DelegatingDataSource implements DisposableBean {

    private final ScarceServer server;
    private final String product;
    private final int connections;
    private final HikariDataSource atRest; // for requests from outside; it opens no connection before the first
    private final Map<Duration, HikariDataSource> pools = new HashMap<>();

    ScarcePool(ScarceServer server, int connections) {
        this.server = server;
        this.product = server.product();
        this.connections = connections;
        this.atRest = pool(server, connections);
        setTargetDataSource(atRest);
    }

    private static HikariDataSource pool(ScarceServer server, int connections) {
        HikariDataSource pool = new HikariDataSource();
        pool.setPoolName("scarce");
        pool.setJdbcUrl(server.url());
        pool.setUsername(server.user());
        pool.setMaximumPoolSize(connections);
        return pool;
    }

    /** What its connections lead to, with its version. */
    String product() {
        return product;
    }

    /** How many there are at this moment. Public for the expression in {@link ScarceQueries}. */
    public int connections() {
        return atRest.getMaximumPoolSize();
    }

    /** From now on there are so many connections, until {@link #reset}. */
    void resize(int size) {
        atRest.setMaximumPoolSize(size);
    }

    /** From now on a call waits so long for a connection. */
    void waitFor(Duration longest) {
        setTargetDataSource(pools.computeIfAbsent(longest, wait -> {
            HikariDataSource pool = pool(server, connections());
            pool.setConnectionTimeout(wait.toMillis());
            return pool;
        }));
    }

    /**
     * From now on there is another pool, with all its sessions opened, until {@link #reset} or the next.
     *
     * @param server where they are
     * @param cancelled whether a stop cancels statements; otherwise it interrupts, as it does without the starter's property
     * @return counts the sessions that it opens
     */
    OpenedSessions open(ScarceServer server, boolean cancelled) throws SQLException {
        closePools();
        OpenedSessions sessions = OpenedSessions.of(server);
        HikariDataSource pool = pool(server, connections());
        pool.setDataSource(cancelled ? new CancellableDataSource(() -> sessions) : sessions);
        pools.put(Duration.ofMillis(pool.getConnectionTimeout()), pool);
        setTargetDataSource(pool);
        borrowAll();
        return sessions;
    }

    /** Afterwards each connection is a good one: a pool replaces those that are broken. */
    void borrowAll() throws SQLException {
        borrowAll(this, connections());
    }

    /** The same with another pool. */
    static void borrowAll(DataSource pool, int connections) throws SQLException {
        List<Connection> borrowed = new ArrayList<>();
        try {
            for (int i = 0; i < connections; i++) {
                borrowed.add(pool.getConnection());
            }
        } finally {
            for (Connection each : borrowed) {
                each.close();
            }
        }
    }

    /** Closes the pools that were made for a run. */
    void reset() {
        resize(connections);
        setTargetDataSource(atRest);
        closePools();
    }

    private void closePools() {
        pools.values().forEach(HikariDataSource::close);
        pools.clear();
    }

    @Override
    public void destroy() {
        closePools();
        atRest.close();
    }
}
