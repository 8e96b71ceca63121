package io.github.virtualthread.jdbc;

import io.github.virtualthread.execution.Calls;
import io.github.virtualthread.execution.StoppableBody;
import io.github.virtualthread.execution.StoppableBody.Entered;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLNonTransientException;
import java.sql.Statement;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What each call on one physical connection passes. During a call, its body is not interrupted; if the body is stopped, {@link
 * StatementCancel} ends the call. What a body does after its stop is refused, unless it cleans up by JDBC. A clean-up by SQL is
 * refused too, and that ends the connection: the next borrower does not get the session of a stopped body.
 *
 * <p>Calls of a second thread on a busy connection pass without all this.
 */
final class ConnectionGate {

    private static final Logger logger = LoggerFactory.getLogger(CurrentCall.LOGGER);

    /** SQLState "query canceled", which Spring translates into a {@code QueryTimeoutException}. HikariCP keeps the connection. */
    private static final String QUERY_CANCELED = "57014";

    /** SQL that cleans up a session. A cancel may reach it, too. */
    private static final Pattern CLEAN_UP = Pattern.compile(
            "\\s*(set|reset|alter\\s+session|unlock|discard|deallocate|drop|use)\\b.*|.*(unlock|release_(all_)?lock|set_config).*",
            Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

    /** A call of the driver. */
    @FunctionalInterface
    interface DriverCall {

        @Nullable
        Object run() throws Throwable;
    }

    private final Connection connection; // of the driver
    final StatementCancel current; // ends its calls

    ConnectionGate(Connection connection, Times times) {
        this.connection = connection;
        this.current = new StatementCancel(connection, times);
    }

    /** Whether objects of the driver ask the database for more than rows, such as for the names of types. */
    boolean isPostgres() {
        return current.postgres;
    }

    /**
     * Makes a call.
     *
     * @param statement what a cancel is for, null for none
     * @param text its SQL, for operators
     * @return what the driver returns
     */
    @Nullable
    Object call(Kind what, @Nullable Statement statement, @Nullable String text, DriverCall call) throws Throwable {
        StoppableBody body = Calls.currentBody();
        if (body != null && what == Kind.STATEMENT && current.beginsTransaction()) {
            Object unused = call(Kind.OTHER, null, null, current::beginTransaction);
        }
        if (!current.begin(what, statement, text)) {
            return call.run(); // within another call, or beside one
        }
        try {
            return body == null ? plain(call) : shielded(body, what, text, call);
        } finally {
            current.free();
        }
    }

    private @Nullable Object plain(DriverCall call) throws Throwable {
        try {
            return call.run();
        } finally {
            StatementOutcome unused = current.end(true, false); // nobody cancels it
        }
    }

    private @Nullable Object shielded(StoppableBody body, Kind what, @Nullable String text, DriverCall call)
            throws Throwable {
        Entered entered = Entered.NOT;
        boolean interrupted = false;
        boolean refused = false;
        boolean completed = false;
        try {
            entered = body.shield(current);
            interrupted = entered != Entered.NOT && Thread.interrupted();
            refused = entered == Entered.STOPPED && isRefused(what, body);
            if (refused) {
                // a statement may be to clean up, and what comes after it, such as close(), may be left out then
                throw what == Kind.STATEMENT ? closed(body, "was not sent", null) : failure(body, "was not sent", null);
            }
            Object result = call.run();
            completed = true;
            return result;
        } catch (SQLException failure) {
            throw !refused && isCancel(failure) ? cancelled(body, text, failure) : failure;
        } finally {
            try {
                StatementOutcome outcome = current.end(completed, refused);
                if (text != null && (outcome == StatementOutcome.CANCELLED || outcome == StatementOutcome.COMPLETED)) {
                    forgetCancel(text);
                }
                if (entered != Entered.NOT && outcome != null) {
                    body.statementEnded(outcome);
                }
            } finally {
                if (entered != Entered.NOT) {
                    boolean owed = interrupted && entered == Entered.STOPPED;
                    body.unshield(owed);
                    if (interrupted && !owed) { // by the application
                        Thread.currentThread().interrupt();
                    }
                }
            }
        }
    }

    /** Whether the failure of the driver comes from a cancel, and the connection is still good. */
    private boolean isCancel(SQLException failure) throws SQLException {
        String state = String.valueOf(failure.getSQLState());
        return current.isCancelled() && !state.startsWith("08") && !state.startsWith("57P") && !connection.isClosed();
    }

    /** What a body that has been stopped must not do. What it has not committed is rolled back. */
    private boolean isRefused(Kind what, StoppableBody body) throws SQLException {
        if (what == Kind.READ) {
            return true;
        }
        current.watch(body, what != Kind.STATEMENT); // the driver may hang in a rollback, too
        if (what.commits() && !connection.getAutoCommit()) {
            connection.rollback();
        }
        return what == Kind.STATEMENT || what == Kind.COMMIT;
    }

    private SQLException cancelled(StoppableBody body, @Nullable String text, SQLException cause) {
        boolean kept = text == null || !CLEAN_UP.matcher(text).matches();
        return kept ? failure(body, "was cancelled", cause) : closed(body, "was cancelled", cause);
    }

    private static SQLException failure(StoppableBody body, String what, @Nullable SQLException cause) {
        return new SQLNonTransientException(
                "The statement %s: %s".formatted(what, body.whyStopped()), QUERY_CANCELED, cause);
    }

    /** Ends the session, with all that is set and locked in it. */
    private SQLException closed(StoppableBody body, String what, @Nullable SQLException cause) {
        String why =
                "The statement %s: %s. Its connection has been closed, because the next user must not get its session"
                        .formatted(what, body.whyStopped());
        current.close(why);
        try {
            connection.close();
        } catch (SQLException | RuntimeException failure) {
            logger.debug("The connection of {} could not be closed", body.spec().name(), failure);
        }
        return new SQLNonTransientConnectionException(why, CurrentCall.CONNECTION_FAILURE, cause);
    }

    /**
     * H2 keeps a cancel that came too late together with the SQL, and ends the next statement with the same SQL. What is prepared
     * again, and not closed, it does not use for another statement.
     */
    private void forgetCancel(String text) {
        if (connection.getClass().getName().startsWith("org.h2.")) {
            try {
                PreparedStatement unused = connection.prepareStatement(text);
            } catch (SQLException | RuntimeException failure) {
                logger.debug("A statement of {} could not be prepared again", connection, failure);
            }
        }
    }
}
