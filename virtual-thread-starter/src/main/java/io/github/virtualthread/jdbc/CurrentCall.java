package io.github.virtualthread.jdbc;

import io.github.virtualthread.execution.StoppableBody.Shield;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.limit.ScopedLock;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.Statement;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import org.jspecify.annotations.Nullable;

/**
 * The call of the driver that runs on one physical connection, one at a time, and what has been done to end it. It does not end
 * while a cancel is on its way, so no cancel reaches a later statement. All is guarded by the lock, unless it says more.
 */
abstract class CurrentCall implements Shield {

    /** The public type by name: what is below it need not know it. */
    static final String LOGGER = "io.github.virtualthread.jdbc.CancellableDataSource";

    /** SQLState "connection failure": a pool drops the connection. */
    static final String CONNECTION_FAILURE = "08006";

    final ScopedLock lock = new ScopedLock();
    final Condition changed = lock.newCondition();
    final Times times;

    /** Set under the lock, cleared after the shield: a stop never finds the call of another body here. */
    private volatile boolean busy;

    long number;

    @Nullable
    Kind kind; // null outside the driver

    @Nullable
    Statement statement;

    @Nullable
    Future<?> watch; // interrupts the call if it does not end

    @Nullable
    Object cancelling; // the cancel on its way

    int cancels;
    boolean forced;
    private volatile @Nullable String sql;

    // of the connection
    private @Nullable String closed; // why nothing may be sent any more
    private boolean aborted;

    /** A cancel that takes longer is not awaited. */
    CurrentCall(Times times) {
        this.times = times;
    }

    /** Returns false within another call, or beside one; otherwise {@link #end} and {@link #free} must follow. Locks by itself. */
    final boolean begin(Kind what, @Nullable Statement running, @Nullable String text) throws SQLException {
        try (ScopedLock held = lock.hold()) {
            if (busy) {
                return false;
            }
            if (closed != null && what != Kind.CLEAN_UP) {
                throw new SQLNonTransientConnectionException(closed, CONNECTION_FAILURE);
            }
            busy = true;
            number++;
            kind = what;
            statement = running;
            sql = text;
            cancels = 0;
            forced = false;
            return true;
        }
    }

    /** Waits for a cancel on its way. Another call may begin after this one has been {@link #free freed}. Locks by itself. */
    final @Nullable StatementOutcome end(boolean completed, boolean refused) {
        try (ScopedLock held = lock.hold()) {
            kind = null;
            statement = null;
            sql = null;
            if (watch != null) {
                watch.cancel(false);
                watch = null;
            }
            changed.signalAll();
            awaitCancel();
            return outcome(completed, refused);
        }
    }

    private void awaitCancel() {
        boolean interrupted = false;
        long left = times.longest().toNanos();
        while (cancelling != null && closed == null) {
            try {
                left = changed.awaitNanos(left);
            } catch (InterruptedException later) {
                interrupted = true;
            }
            if (left <= 0) { // usually the watch of the cancel says so before
                abort();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
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

    final void free() {
        busy = false;
    }

    final boolean is(long call) {
        return kind != null && number == call;
    }

    /** Without the lock. */
    @Override
    public final @Nullable String statement() {
        return sql;
    }

    /** Whether a cancel has been sent, and the connection may still be good. Locks by itself. */
    final boolean isCancelled() {
        try (ScopedLock held = lock.hold()) {
            return cancels > 0 && !forced && closed == null;
        }
    }

    final boolean isClosed() {
        return closed != null;
    }

    /** What comes after it on this connection fails. Locks by itself. */
    final void close(String why) {
        try (ScopedLock held = lock.hold()) {
            closed = why;
            changed.signalAll();
        }
    }

    /** Closes the connection, because a cancel does not return. Locks by itself. */
    final void abort() {
        aborted = true;
        close("The connection has been closed, because a cancel of its last statement did not return within %d s"
                .formatted(times.longest().toSeconds()));
    }
}
