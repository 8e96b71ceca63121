package io.github.virtualthread.sample.lab.experiment;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

/** How many of the {@link SlowQueries} run, as the server itself tells it. It is asked on a connection of its own. */
final class RunningQueries implements AutoCloseable {

    private final Connection connection;
    private final String question;
    private final AtomicInteger most = new AtomicInteger();

    private RunningQueries(Connection connection, String question) {
        this.connection = connection;
        this.question = question;
    }

    static RunningQueries of(ScarceServer server) throws SQLException {
        Connection connection = DriverManager.getConnection(server.url(), server.user(), "");
        server.hold(connection);
        return new RunningQueries(connection, server.running());
    }

    /** At this moment. */
    int count() {
        try (Statement statement = connection.createStatement();
                ResultSet answer = statement.executeQuery(question)) {
            answer.next();
            int count = answer.getInt(1);
            most.accumulateAndGet(count, Math::max);
            return count;
        } catch (SQLException failure) {
            throw new IllegalStateException("The server does not answer: " + question, failure);
        }
    }

    /** The most that were counted so far. */
    int most() {
        return most.get();
    }

    /** Blocks until the server has none left. */
    void awaitNone() throws InterruptedException {
        while (count() > 0) {
            Thread.sleep(20);
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
