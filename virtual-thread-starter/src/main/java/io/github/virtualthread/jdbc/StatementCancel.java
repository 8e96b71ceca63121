package io.github.virtualthread.jdbc;

import io.github.virtualthread.execution.StoppableBody;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.jdbc.ConnectionGate.Kind;
import io.github.virtualthread.jdbc.ConnectionGate.Times;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.TaskLimit;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The call that runs on one physical connection, and what ends it when its body is stopped: a cancel, or an interrupt if nothing
 * else helps. A call does not end while a cancel is on its way, so no cancel reaches a later statement.
 */
final class StatementCancel {

    private static final Logger logger = LoggerFactory.getLogger(CancellableDataSource.class);

    private static final String LOST = "Its connection is lost, and ";

    private final Connection connection;
    private final boolean postgres;
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
    private boolean aborted;
    private @Nullable String closed; // why nothing may be sent any more
    private @Nullable Future<?> watch;

    StatementCancel(Connection connection, boolean postgres, Times times) {
        this.connection = connection;
        this.postgres = postgres;
        this.times = times;
    }

    /** Returns false within another call, or beside one; otherwise {@link #leave} and {@link #free} must follow. */
    boolean enter(Kind what, @Nullable Statement statement, @Nullable String text) throws SQLException {
        lock.lock();
        try {
            if (busy) {
                return false;
            }
            if (closed != null && what != Kind.CLEAN_UP) {
                throw new SQLNonTransientConnectionException(closed, ConnectionGate.CONNECTION_FAILURE);
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

    @Nullable
    StatementOutcome leave(boolean completed, boolean refused) {
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

    void free() {
        busy = false;
    }

    private @Nullable StatementOutcome outcome(boolean completed, boolean refused) {
        if (refused) {
            return StatementOutcome.REFUSED;
        } else if (aborted && cancels > 0) {
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
        long left = times.longest().toNanos();
        while (cancelling != null && closed == null) {
            try {
                left = changed.awaitNanos(left);
            } catch (InterruptedException later) {
                interrupted = true;
            }
            if (left <= 0) { // usually giveUp() says so before
                abort();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void abort() {
        aborted = true;
        close("The connection has been closed, because a cancel of its last statement did not return within %d s"
                .formatted(times.longest().toSeconds()));
    }

    /** What comes after it on this connection fails. */
    void close(String why) {
        lock.lock();
        try {
            closed = why;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether the failure of the driver comes from a cancel, and the connection is still good. */
    boolean isCauseOf(SQLException failure) throws SQLException {
        lock.lock();
        try {
            if (cancels == 0 || forced || closed != null) {
                return false;
            }
        } finally {
            lock.unlock();
        }
        String state = String.valueOf(failure.getSQLState());
        return !state.startsWith("08") && !state.startsWith("57P") && !connection.isClosed();
    }

    @Nullable
    String sql() {
        lock.lock();
        try {
            return sql;
        } finally {
            lock.unlock();
        }
    }

    /** What a body does after its stop is mostly short, and needs no cancel. */
    @SuppressWarnings("EmptyCatch")
    void watch(StoppableBody body, boolean cancellable) {
        lock.lock();
        try {
            long call = number;
            watch = running == null || !cancellable
                    ? body.schedule(times.longest(), () -> interruptUncancellable(call, body))
                    : body.schedule(times.again(), () -> cancelUntilEnd(call, body));
        } catch (OutOfMemoryError noRoom) {
            // a rollback without a watch is better than none
        } finally {
            lock.unlock();
        }
    }

    /** The body was stopped. Must not block. */
    void begin(StoppableBody body) {
        lock.lock();
        try {
            long call = number;
            if (kind == null) {
                return; // it has just ended, and gets the interrupt
            }
            if (kind.commits()) {
                Duration longest = times.commit();
                watch = body.schedule(
                        longest, () -> interruptCommit(call, body, "did not end within " + Durations.text(longest)));
            } else if (running == null) {
                watch = body.schedule(times.longest(), () -> interruptUncancellable(call, body));
            } else {
                Thread.ofPlatform()
                        .daemon()
                        .inheritInheritableThreadLocals(false)
                        .name("cancel-statement")
                        .start(() -> cancelUntilEnd(call, body));
            }
        } catch (Throwable noThread) {
            forced = true; // by the caller
            throw noThread;
        } finally {
            lock.unlock();
        }
    }

    /** The body was stopped once more: its commit has had its time. Must not block. */
    void insist(StoppableBody body) {
        lock.lock();
        try {
            long call = number;
            if (kind != null && kind.commits()) {
                Future<?> unused = body.schedule(
                        Duration.ZERO,
                        () -> interruptCommit(call, body, "was interrupted, because the call was stopped once more"));
            }
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
                forceAndWarn(call, body, "Its statement did not end within %s of being cancelled", times.grace());
            }
        }
    }

    /** Only the time between cancels counts: MariaDB may need two seconds for one, whose effect comes after that. */
    private boolean endsByCancel(long call, StoppableBody body) throws InterruptedException {
        for (long left = times.grace().toNanos();
                left > 0;
                left -= times.again().toNanos()) {
            Statement statement = running;
            if (statement == null || !isIn(call) || closed != null) {
                return true;
            }
            cancel(statement, call, body);
            long wait = Math.min(left, times.again().toNanos());
            while (wait > 0 && isIn(call) && closed == null) {
                wait = changed.awaitNanos(wait);
            }
        }
        return !isIn(call) || closed != null;
    }

    /** Under the lock, but not while the driver sends the cancel. */
    private void cancel(Statement statement, long call, StoppableBody body) {
        Object cancel = new Object();
        Future<?> hangs = body.schedule(times.longest(), () -> giveUp(call, cancel, body));
        cancels++;
        cancelling = cancel;
        lock.unlock();
        try {
            if (postgres) {
                Postgres.cancel(connection);
            } else {
                statement.cancel();
            }
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
            abort();
        } finally {
            lock.unlock();
        }
        force(call, body);
        warn(body, why, "A cancel of its statement did not return within %s", times.longest());
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
        forceAndWarn(call, body, what, times.longest());
    }

    private void forceAndWarn(long call, StoppableBody body, String what, Duration longest) {
        String why = body.whyStopped(); // as above
        if (force(call, body)) {
            warn(body, why, what, longest);
        }
    }

    private void interruptCommit(long call, StoppableBody body, String what) {
        String why = body.whyStopped(); // as above
        if (force(call, body)) {
            logger.warn(
                    "{}. Its commit {}. {}whether it is committed is unknown{}: look for its rows in the database",
                    why,
                    what,
                    LOST,
                    permit(body));
        }
    }

    private static void warn(StoppableBody body, String why, String what, Duration longest) {
        logger.warn(
                "{}. {}. {}the database may go on with the statement{}: look for the statement in the database, and end it there",
                why,
                what.formatted(Durations.text(longest)),
                LOST,
                permit(body));
    }

    private static String permit(StoppableBody body) {
        TaskLimit limit = body.spec().limit();
        return limit == null ? "" : " although the permit of limit '" + limit.name() + "' is free for other calls";
    }

    private boolean force(long call, StoppableBody body) {
        lock.lock();
        try {
            boolean now = isIn(call) && !forced && body.force();
            forced |= now;
            return now;
        } finally {
            lock.unlock();
        }
    }
}
