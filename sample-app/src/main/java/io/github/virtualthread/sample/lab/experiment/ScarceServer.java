package io.github.virtualthread.sample.lab.experiment;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;

/** The database server behind {@link ScarcePool}. Ended as a bean, after the pool. */
interface ScarceServer extends AutoCloseable {

    /** So many sessions a server of its own has to serve: one pool at rest and two of a run, each at its largest. */
    int MOST_SESSIONS = 500;

    String url();

    default String user() {
        return "";
    }

    /** Whether it runs each query on the thread of its caller. */
    default boolean isInThisJvm() {
        return false;
    }

    /** What it is, and its version, as its driver tells them. */
    default String product() {
        try (Connection connection = DriverManager.getConnection(url(), user(), "")) {
            DatabaseMetaData data = connection.getMetaData();
            return "%s %s".formatted(data.getDatabaseProductName(), data.getDatabaseProductVersion());
        } catch (SQLException failure) {
            throw new IllegalStateException("%s does not answer".formatted(url()), failure);
        }
    }

    /** A query of some seconds, for {@link String#formatted}, that costs no processor and that a cancel ends. */
    String slowQuery();

    /** Asks how many of the slow queries run. */
    String running();

    /**
     * Lets the slow queries take their time, until it is closed.
     *
     * @param connection one to ask how many of them run
     */
    default void hold(Connection connection) throws SQLException {}

    /** What a reader has to know of a query whose caller is stopped. */
    default String aboutStops() {
        return "It is a server of its own, which the sample starts and deletes.";
    }

    @Override
    void close();
}
