package io.github.virtualthread.jdbc;

import io.github.virtualthread.execution.StoppableBody;
import io.github.virtualthread.execution.StoppableBody.Entered;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLNonTransientException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What each call on one physical connection passes. During a call, its body is not interrupted; if the body is stopped, the
 * statement is cancelled. A call does not end while a cancel is on its way, so no cancel reaches a later statement.
 *
 * <p>Calls of a second thread on a busy connection pass without all this.
 */
final class ConnectionGate implements StoppableBody.Shield {

    private static final Logger logger = LoggerFactory.getLogger(CancellableDataSource.class);

    /** A driver may send a cancel before the database has begun with the statement. */
    private static final long AGAIN = TimeUnit.MILLISECONDS.toNanos(100);

    /** How long a statement may take to end after its cancel has returned. */
    private static final Duration GRACE = Duration.ofSeconds(1);

    /** How long a cancel may take to return, and how long a call may take that cannot be cancelled. */
    private static final Duration LONGEST = Duration.ofSeconds(5);

    /** SQLState "query canceled", which Spring translates into a {@code QueryTimeoutException}. HikariCP keeps the connection. */
    private static final String QUERY_CANCELED = "57014";

    /** SQLState "connection failure": a pool drops the connection. */
    private static final String CONNECTION_FAILURE = "08006";

    /** What a call does, as far as it matters when its body is stopped. */
    enum Kind {
        /** Is cancelled; not sent any more once the body has been stopped. */
        STATEMENT,
        /** Is cancelled; always sent. */
        CLEAN_UP,
        /** Ends by itself, because nobody could tell its outcome otherwise; afterwards it becomes a rollback. */
        COMMIT,
        /** As the next; but commits, so that what was not committed before is rolled back first. */
        AUTO_COMMIT,
        /** Cannot be cancelled; always sent. */
        OTHER
    }

    /** A call of the driver. */
    @FunctionalInterface
    interface DriverCall {

        @Nullable
        Object run() throws Throwable;
    }

    private final Connection connection;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    // all guarded by the lock
    private @Nullable Thread owner;
    private long number; // of the call
    private boolean inDriver;
    private Kind kind = Kind.OTHER;
    private @Nullable Statement running;
    private @Nullable String sql;
    private boolean cancelling;
    private int cancels;
    private boolean forced;
    private boolean dead;
    private @Nullable Future<?> watch;

    ConnectionGate(Connection connection) {
        this.connection = connection;
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
        if (!enter(what, statement, text)) {
            return call.run(); // within another call, or beside one
        }
        StoppableBody body = TaskEngine.currentBody();
        if (body != null) {
            return shielded(body, what, call);
        }
        try {
            return call.run();
        } finally {
            StatementOutcome unused = leave(true, false); // nobody cancels it
        }
    }

    private @Nullable Object shielded(StoppableBody body, Kind what, DriverCall call) throws Throwable {
        Entered entered = Entered.NOT;
        boolean interrupted = false;
        boolean refused = false;
        boolean completed = false;
        try {
            entered = body.shield(this);
            interrupted = entered != Entered.NOT && Thread.interrupted();
            if (entered == Entered.STOPPED) {
                stopped(body); // the driver may hang in a rollback, too
                refused = isRefused(what);
                if (refused) {
                    throw refusal(body, "was not sent", null);
                }
            }
            Object result = call.run();
            completed = true;
            return result;
        } catch (SQLException failure) {
            throw !refused && isCancelled() ? refusal(body, "was cancelled", failure) : failure;
        } finally {
            StatementOutcome outcome = leave(completed, refused);
            if (entered != Entered.NOT) {
                if (outcome != null) {
                    body.statementEnded(outcome);
                }
                if ((body.unshield() && entered == Entered.RUNNING) || interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private boolean enter(Kind what, @Nullable Statement statement, @Nullable String text) throws SQLException {
        lock.lock();
        try {
            if (owner != null) {
                return false;
            }
            if (dead && what != Kind.CLEAN_UP) {
                throw new SQLNonTransientConnectionException(
                        "The connection has been closed, because a cancel of its last statement did not return within %d s"
                                .formatted(LONGEST.toSeconds()),
                        CONNECTION_FAILURE);
            }
            owner = Thread.currentThread();
            number++;
            inDriver = true;
            kind = what;
            running = statement;
            sql = text;
            cancels = 0;
            forced = false;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** What a body that has been stopped must not do. What it has not committed is rolled back. */
    private boolean isRefused(Kind what) throws SQLException {
        if ((what == Kind.COMMIT || what == Kind.AUTO_COMMIT) && !connection.getAutoCommit()) {
            connection.rollback();
        }
        return what == Kind.STATEMENT || what == Kind.COMMIT;
    }

    private static SQLException refusal(StoppableBody body, String what, @Nullable SQLException cause) {
        return new SQLNonTransientException(
                "The statement %s: %s".formatted(what, body.whyStopped()), QUERY_CANCELED, cause);
    }

    /** Whether the failure of the driver comes from a cancel, and the connection is still good. */
    private boolean isCancelled() {
        lock.lock();
        try {
            return cancels > 0 && !forced && !dead;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable StatementOutcome leave(boolean completed, boolean refused) {
        lock.lock();
        try {
            inDriver = false;
            running = null;
            sql = null;
            if (watch != null) {
                watch.cancel(false);
                watch = null;
            }
            changed.signalAll();
            awaitCancel();
            owner = null;
            return outcome(completed, refused);
        } finally {
            lock.unlock();
        }
    }

    private @Nullable StatementOutcome outcome(boolean completed, boolean refused) {
        if (refused) {
            return StatementOutcome.REFUSED;
        } else if (dead) {
            return StatementOutcome.ABORTED;
        } else if (forced) {
            return StatementOutcome.INTERRUPTED;
        }
        StatementOutcome ofCancel = completed ? StatementOutcome.COMPLETED : StatementOutcome.CANCELLED;
        return cancels == 0 ? null : ofCancel;
    }

    /** The call does not end before, so that the cancel cannot reach the next one. */
    private void awaitCancel() {
        boolean interrupted = false;
        long left = LONGEST.toNanos();
        while (cancelling && !dead) {
            try {
                left = changed.awaitNanos(left);
            } catch (InterruptedException later) {
                interrupted = true;
            }
            if (left <= 0) {
                abort();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Under the lock. What comes after it on this connection fails. */
    private void abort() {
        dead = true;
        changed.signalAll();
        Thread.ofPlatform().daemon().name("abort-connection").start(() -> {
            try {
                connection.abort(Runnable::run);
            } catch (SQLException | RuntimeException failure) {
                logger.warn("Connection {} could not be aborted", connection, failure);
            }
        });
    }

    @Override
    public @Nullable String statement() {
        lock.lock();
        try {
            return sql;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void stopped(StoppableBody body) {
        lock.lock();
        try {
            long call = number;
            if (!inDriver || (kind == Kind.COMMIT && !body.equals(TaskEngine.currentBody()))) {
                return; // it has just ended, and gets the interrupt; or ends by itself
            }
            if (running == null) {
                watch = body.schedule(LONGEST, () -> interrupt(call, body));
            } else {
                Thread.ofPlatform()
                        .daemon()
                        .inheritInheritableThreadLocals(false)
                        .name("cancel-statement")
                        .start(() -> cancelUntilEnd(call, body));
            }
        } finally {
            lock.unlock();
        }
    }

    private boolean isIn(long call) {
        return inDriver && number == call;
    }

    private void cancelUntilEnd(long call, StoppableBody body) {
        lock.lock();
        try {
            long end = 0;
            for (long left = AGAIN; isIn(call) && !dead; left = end - System.nanoTime()) {
                if (left <= 0) {
                    interrupt(call, body);
                    return;
                }
                if (end != 0) {
                    changed.awaitNanos(Math.min(left, AGAIN));
                }
                Statement statement = running;
                if (isIn(call) && statement != null) {
                    cancel(statement, call, body);
                    end = end == 0 ? System.nanoTime() + GRACE.toNanos() : end;
                }
            }
        } catch (Throwable noRoom) { // nor is it interrupted
            interrupt(call, body);
        } finally {
            lock.unlock();
        }
    }

    /** Under the lock, but not while the driver sends the cancel. */
    private void cancel(Statement statement, long call, StoppableBody body) {
        cancelling = true;
        cancels++;
        Future<?> hangs = body.schedule(LONGEST, () -> giveUp(call, body));
        lock.unlock();
        try {
            statement.cancel();
        } catch (Throwable failure) {
            logger.debug("A statement of {} could not be cancelled", body.spec().name(), failure);
        } finally {
            lock.lock();
            cancelling = false;
            changed.signalAll();
            hangs.cancel(false);
        }
    }

    /** The cancel does not return. */
    private void giveUp(long call, StoppableBody body) {
        lock.lock();
        try {
            if (cancelling && number == call && !dead) {
                abort();
                interrupt(call, body);
            }
        } finally {
            lock.unlock();
        }
    }

    /** The last resort. */
    private void interrupt(long call, StoppableBody body) {
        lock.lock();
        try {
            if (isIn(call) && body.force()) {
                forced = true;
                logger.warn(
                        "{} was stopped, but its statement did not end when it was cancelled, or could not be cancelled. Its"
                                + " thread was interrupted: its connection is lost, and the database may go on with the"
                                + " statement.",
                        body.spec().name());
            }
        } finally {
            lock.unlock();
        }
    }
}
