package io.github.virtualthread.sample.lab.experiment;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
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
        this.atRest = pool(connections);
        setTargetDataSource(atRest);
    }

    private HikariDataSource pool(int connections) {
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
            HikariDataSource pool = pool(connections());
            pool.setConnectionTimeout(wait.toMillis());
            return pool;
        }));
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
