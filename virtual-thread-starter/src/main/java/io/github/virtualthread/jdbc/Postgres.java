package io.github.virtualthread.jdbc;

import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** What the gate must know of PostgreSQL. By reflection, because its driver is optional, and its class files need others. */
final class Postgres {

    /** {@code PGConnection.cancelQuery()}, null without the driver. */
    private static final @Nullable Method CANCEL = find();

    private Postgres() {}

    private static @Nullable Method find() {
        try {
            return Class.forName("org.postgresql.PGConnection").getMethod("cancelQuery");
        } catch (ReflectiveOperationException | LinkageError absent) {
            return null;
        }
    }

    /** Whether a connection is one of the driver, or leads to one. */
    static boolean is(Connection connection) {
        try {
            return CANCEL != null && connection.isWrapperFor(CANCEL.getDeclaringClass());
        } catch (SQLException | RuntimeException unknown) {
            return false;
        }
    }

    /**
     * Cancels what runs on a connection, whichever object of the driver runs it, and as often as asked: {@code
     * Statement.cancel()} sends one cancel only, and none if the driver fetches rows.
     */
    static void cancel(Connection connection) throws SQLException, ReflectiveOperationException {
        if (CANCEL != null) {
            CANCEL.invoke(connection.unwrap(CANCEL.getDeclaringClass()));
        }
    }
}
