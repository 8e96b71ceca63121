package io.github.virtualthread.sample.lab.experiment;

import com.zaxxer.hikari.util.DriverDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** Below a pool: counts the sessions that the pool opens. One more than it has connections replaces one that was lost. */
final class OpenedSessions extends DelegatingDataSource {

    private final AtomicInteger opened = new AtomicInteger();

    private OpenedSessions(DataSource target) {
        super(target);
    }

    static OpenedSessions of(ScarceServer server) {
        return new OpenedSessions(new DriverDataSource(server.url(), null, new Properties(), server.user(), ""));
    }

    @Override
    public Connection getConnection() throws SQLException {
        return counted(super.getConnection());
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        return counted(super.getConnection(user, password));
    }

    private Connection counted(Connection connection) {
        opened.incrementAndGet();
        return connection;
    }

    int count() {
        return opened.get();
    }
}
