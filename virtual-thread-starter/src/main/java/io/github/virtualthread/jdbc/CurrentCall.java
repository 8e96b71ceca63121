package io.github.virtualthread.jdbc;

import io.github.virtualthread.jdbc.ConnectionGate.Kind;
import java.sql.SQLException;
import java.sql.SQLNonTransientConnectionException;
import java.sql.Statement;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The call of the driver that runs on one physical connection; one at a time. All is guarded by the lock, unless it says more. */
final class CurrentCall {

    final ReentrantLock lock = new ReentrantLock();
    final Condition changed = lock.newCondition();

    /** Set under the lock, cleared after the shield: a stop never finds the call of another body here. */
    private volatile boolean busy;

    private long number;
    private @Nullable Kind kind; // null outside the driver
    private @Nullable Statement statement;
    private volatile @Nullable String sql;
    private @Nullable String closed; // why nothing may be sent any more

    /** Returns false within another call, or beside one; otherwise {@link #end} and {@link #free} must follow. Locks by itself. */
    boolean begin(Kind what, @Nullable Statement running, @Nullable String text, StatementCancel cancel)
            throws SQLException {
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
            statement = running;
            sql = text;
            cancel.reset();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Another call may begin after it has been {@link #free freed}. */
    void end() {
        kind = null;
        statement = null;
        sql = null;
    }

    void free() {
        busy = false;
    }

    boolean is(long call) {
        return kind != null && number == call;
    }

    long number() {
        return number;
    }

    @Nullable
    Kind kind() {
        return kind;
    }

    @Nullable
    Statement statement() {
        return statement;
    }

    /** Without the lock. */
    @Nullable
    String sql() {
        return sql;
    }

    boolean isClosed() {
        return closed != null;
    }

    /** What comes after it on this connection fails. Locks by itself. */
    void close(String why) {
        lock.lock();
        try {
            closed = why;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
