package io.github.virtualthread.jdbc;

import io.github.virtualthread.execution.StoppableBody;
import io.github.virtualthread.execution.StoppableBody.Entered;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.TaskLimit;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.SQLNonTransientException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Future;
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

    /**
     * How long to wait.
     *
     * @param again after this time the cancel is sent again: a driver may send it before the database has begun with the statement
     * @param grace how long a statement may take to end after its first cancel has returned: MariaDB may need two seconds
     * @param longest how long a cancel may take to return, and how long a call may take that cannot be cancelled
     */
    record Times(Duration again, Duration grace, Duration longest) {

        static final Times USUAL = new Times(Duration.ofMillis(100), Duration.ofSeconds(5), Duration.ofSeconds(5));
    }

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
        /** Commits, and so ends by itself, too; always sent, but what was not committed before is rolled back first. */
        AUTO_COMMIT,
        /** Cannot be cancelled; always sent. */
        OTHER;

        boolean commits() {
            return this == COMMIT || this == AUTO_COMMIT;
        }
    }

    /** A call of the driver. */
    @FunctionalInterface
    interface DriverCall {

        @Nullable
        Object run() throws Throwable;
    }

    private final Connection connection;
    private final Times times;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    /** Set under the lock, cleared after the shield: a stop never finds the call of another body here. */
    private volatile boolean busy;

    // all guarded by the lock
    private long number; // of the call
    private @Nullable Kind kind; // null outside the driver
    private @Nullable Statement running;
    private @Nullable String sql;
    private @Nullable Object cancelling; // the cancel on its way
    private int cancels;
    private boolean forced;
    private boolean dead;
    private @Nullable Future<?> watch;

    ConnectionGate(Connection connection, Times times) {
        this.connection = connection;
        this.times = times;
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
        StoppableBody body = TaskEngine.currentBody();
        if (!enter(what, statement, text)) {
            return call.run(); // within another call, or beside one
        }
        try {
            return body == null ? plain(call) : shielded(body, what, text, call);
        } finally {
            busy = false;
        }
    }

    private @Nullable Object plain(DriverCall call) throws Throwable {
        try {
            return call.run();
        } finally {
            StatementOutcome unused = leave(true, false); // nobody cancels it
        }
    }

    private @Nullable Object shielded(StoppableBody body, Kind what, @Nullable String text, DriverCall call)
            throws Throwable {
        Entered entered = Entered.NOT;
        boolean interrupted = false;
        boolean refused = false;
        boolean completed = false;
        try {
            entered = body.shield(this);
            interrupted = entered != Entered.NOT && Thread.interrupted();
            refused = entered == Entered.STOPPED && isRefused(what, body);
            if (refused) {
                throw refusal(body, "was not sent", null);
            }
            Object result = call.run();
            completed = true;
            return result;
        } catch (SQLException failure) {
            throw !refused && isCancelled(failure) ? refusal(body, "was cancelled", failure) : failure;
        } finally {
            try {
                StatementOutcome outcome = leave(completed, refused);
                if (text != null && (outcome == StatementOutcome.CANCELLED || outcome == StatementOutcome.COMPLETED)) {
                    forgetCancel(text);
                }
                if (entered != Entered.NOT && outcome != null) {
                    body.statementEnded(outcome);
                }
            } finally {
                if (entered != Entered.NOT && (body.unshield() || interrupted)) {
                    Thread.currentThread().interrupt();
                }
            }
        }
    }

    private boolean enter(Kind what, @Nullable Statement statement, @Nullable String text) throws SQLException {
        lock.lock();
        try {
            if (busy) {
                return false;
            }
            if (dead && what != Kind.CLEAN_UP) {
                throw new SQLNonTransientConnectionException(
                        "The connection has been closed, because a cancel of its last statement did not return within %d s"
                                .formatted(times.longest.toSeconds()),
                        CONNECTION_FAILURE);
            }
            busy = true;
            number++;
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
    private boolean isRefused(Kind what, StoppableBody body) throws SQLException {
        if (what == Kind.STATEMENT) {
            return true;
        }
        watch(body); // the driver may hang in a rollback, too
        if (what.commits() && !connection.getAutoCommit()) {
            connection.rollback();
        }
        return what == Kind.COMMIT;
    }

    /** What a body does after its stop is mostly short, and needs no cancel. */
    @SuppressWarnings("EmptyCatch")
    private void watch(StoppableBody body) {
        lock.lock();
        try {
            long call = number;
            watch = running == null
                    ? body.schedule(times.longest, () -> interruptUncancellable(call, body))
                    : body.schedule(times.again, () -> cancelUntilEnd(call, body));
        } catch (OutOfMemoryError noRoom) {
            // a rollback without a watch is better than none
        } finally {
            lock.unlock();
        }
    }

    private static SQLException refusal(StoppableBody body, String what, @Nullable SQLException cause) {
        return new SQLNonTransientException(
                "The statement %s: %s".formatted(what, body.whyStopped()), QUERY_CANCELED, cause);
    }

    /** Whether the failure of the driver comes from a cancel, and the connection is still good. */
    private boolean isCancelled(SQLException failure) throws SQLException {
        lock.lock();
        try {
            if (cancels == 0 || forced || dead) {
                return false;
            }
        } finally {
            lock.unlock();
        }
        String state = String.valueOf(failure.getSQLState());
        return !state.startsWith("08") && !state.startsWith("57P") && !connection.isClosed();
    }

    private @Nullable StatementOutcome leave(boolean completed, boolean refused) {
        lock.lock();
        try {
            kind = null;
            running = null;
            sql = null;
            if (watch != null) {
                watch.cancel(false);
                watch = null;
            }
            changed.signalAll();
            awaitCancel();
            return outcome(completed, refused);
        } finally {
            lock.unlock();
        }
    }

    private @Nullable StatementOutcome outcome(boolean completed, boolean refused) {
        if (refused) {
            return StatementOutcome.REFUSED;
        } else if (dead && cancels > 0) {
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
        long left = times.longest.toNanos();
        while (cancelling != null && !dead) {
            try {
                left = changed.awaitNanos(left);
            } catch (InterruptedException later) {
                interrupted = true;
            }
            dead = dead || left <= 0; // usually giveUp() says so before
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * H2 keeps a cancel that came too late together with the SQL, and ends the next statement with the same SQL. What is prepared
     * again, and not closed, it does not use for another statement.
     */
    @SuppressWarnings("MustBeClosed")
    private void forgetCancel(String text) {
        if (connection.getClass().getName().startsWith("org.h2.")) {
            try {
                PreparedStatement unused = connection.prepareStatement(text);
            } catch (SQLException | RuntimeException failure) {
                logger.debug("A statement of {} could not be prepared again", connection, failure);
            }
        }
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
            if (kind == null || kind.commits()) {
                return; // it has just ended, and gets the interrupt; or ends by itself
            }
            if (running == null) {
                watch = body.schedule(times.longest, () -> interruptUncancellable(call, body));
            } else {
                Thread.ofPlatform()
                        .daemon()
                        .inheritInheritableThreadLocals(false)
                        .name("cancel-statement")
                        .start(() -> cancelUntilEnd(call, body));
            }
        } catch (Throwable noThread) {
            forced = true; // by whoever told us
            throw noThread;
        } finally {
            lock.unlock();
        }
    }

    private boolean isIn(long call) {
        return kind != null && number == call;
    }

    private void cancelUntilEnd(long call, StoppableBody body) {
        boolean ended = false;
        lock.lock();
        try {
            ended = endsByCancel(call, body);
        } catch (InterruptedException byNobody) {
            Thread.currentThread().interrupt();
        } finally {
            lock.unlock();
            if (!ended) {
                forceAndWarn(call, body, "Its statement did not end within %s of being cancelled", times.grace);
            }
        }
    }

    /** Only the time between cancels counts: MariaDB may need two seconds for one, whose effect comes after that. */
    private boolean endsByCancel(long call, StoppableBody body) throws InterruptedException {
        for (long left = times.grace.toNanos(); left > 0; left -= times.again.toNanos()) {
            Statement statement = running;
            if (statement == null || !isIn(call) || dead) {
                return true;
            }
            cancel(statement, call, body);
            long wait = Math.min(left, times.again.toNanos());
            while (wait > 0 && isIn(call) && !dead) {
                wait = changed.awaitNanos(wait);
            }
        }
        return !isIn(call) || dead;
    }

    /** Under the lock, but not while the driver sends the cancel. */
    private void cancel(Statement statement, long call, StoppableBody body) {
        Object cancel = new Object();
        Future<?> hangs = body.schedule(times.longest, () -> giveUp(call, cancel, body));
        cancels++;
        cancelling = cancel;
        lock.unlock();
        try {
            statement.cancel();
        } catch (Throwable failure) {
            logger.debug("A statement of {} could not be cancelled", body.spec().name(), failure);
        } finally {
            lock.lock();
            cancelling = null;
            changed.signalAll();
            hangs.cancel(false);
        }
    }

    /** The cancel does not return. What comes after it on this connection fails. */
    @SuppressWarnings("ReferenceEquality")
    private void giveUp(long call, Object cancel, StoppableBody body) {
        String why = body.whyStopped(); // afterwards the call may end, and forget its deadline
        lock.lock();
        try {
            if (cancelling != cancel) {
                return;
            }
            dead = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        force(call, body);
        warn(body, why, "A cancel of its statement did not return within %s", times.longest);
        try {
            connection.abort(Runnable::run);
        } catch (Throwable failure) {
            logger.warn(
                    "The connection of {} could not be closed after a cancel of its statement did not return. Nobody uses it any"
                            + " more: look for its session in the database, and end it there",
                    body.spec().name(),
                    failure);
        }
    }

    /** The last resort. */
    private void interruptUncancellable(long call, StoppableBody body) {
        String what = "A call of its database driver that cannot be cancelled did not end within %s";
        forceAndWarn(call, body, what, times.longest);
    }

    private void forceAndWarn(long call, StoppableBody body, String what, Duration longest) {
        String why = body.whyStopped(); // as above
        if (force(call, body)) {
            warn(body, why, what, longest);
        }
    }

    private static void warn(StoppableBody body, String why, String what, Duration longest) {
        TaskLimit limit = body.spec().limit();
        logger.warn(
                "{}. {}. Its connection is lost, and the database may go on with the statement{}: look for the statement in the"
                        + " database, and end it there",
                why,
                what.formatted(Durations.text(longest)),
                limit == null ? "" : " although the permit of limit '" + limit.name() + "' is free for other calls");
    }

    private boolean force(long call, StoppableBody body) {
        lock.lock();
        try {
            boolean now = isIn(call) && body.force();
            forced |= now;
            return now;
        } finally {
            lock.unlock();
        }
    }
}
