package io.github.virtualthread.jdbc;

import io.github.virtualthread.execution.StoppableBody;
import io.github.virtualthread.execution.TaskListener.StatementOutcome;
import io.github.virtualthread.jdbc.ConnectionGate.Kind;
import io.github.virtualthread.jdbc.ConnectionGate.Times;
import io.github.virtualthread.limit.Durations;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Future;
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

    private final Connection connection;
    private final boolean postgres;
    private final Times times;
    private final CurrentCall current;
    private final ReentrantLock lock;

    // all guarded by the lock
    private @Nullable Object cancelling; // the cancel on its way
    private int cancels;
    private boolean forced;
    private boolean aborted;
    private @Nullable Future<?> watch;

    StatementCancel(Connection connection, boolean postgres, CurrentCall current, Times times) {
        this.connection = connection;
        this.postgres = postgres;
        this.current = current;
        this.lock = current.lock;
        this.times = times;
    }

    /** A call has begun, and nobody has stopped its body yet. */
    void reset() {
        cancels = 0;
        forced = false;
    }

    @Nullable
    StatementOutcome leave(boolean completed, boolean refused) {
        lock.lock();
        try {
            current.end();
            if (watch != null) {
                watch.cancel(false);
                watch = null;
            }
            current.changed.signalAll();
            awaitCancel();
            return outcome(completed, refused);
        } finally {
            lock.unlock();
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

    /** The call does not end before, so that the cancel cannot reach the next one. */
    private void awaitCancel() {
        boolean interrupted = false;
        long left = times.longest().toNanos();
        while (cancelling != null && !current.isClosed()) {
            try {
                left = current.changed.awaitNanos(left);
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
        current.close(
                "The connection has been closed, because a cancel of its last statement did not return within %d s"
                        .formatted(times.longest().toSeconds()));
    }

    /** Whether the failure of the driver comes from a cancel, and the connection is still good. */
    boolean isCauseOf(SQLException failure) throws SQLException {
        lock.lock();
        try {
            if (cancels == 0 || forced || current.isClosed()) {
                return false;
            }
        } finally {
            lock.unlock();
        }
        String state = String.valueOf(failure.getSQLState());
        return !state.startsWith("08") && !state.startsWith("57P") && !connection.isClosed();
    }

    /** What a body does after its stop is mostly short, and needs no cancel. */
    @SuppressWarnings("EmptyCatch")
    void watch(StoppableBody body, boolean cancellable) {
        lock.lock();
        try {
            long call = current.number();
            watch = current.statement() == null || !cancellable
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
            long call = current.number();
            Kind kind = current.kind();
            if (kind == null) {
                return; // it has just ended, and gets the interrupt
            }
            if (kind.commits()) {
                Duration longest = times.commit();
                watch = body.schedule(
                        longest, () -> interruptCommit(call, body, "did not end within " + Durations.text(longest)));
            } else if (current.statement() == null) {
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

    /** The body was stopped once more: its commit has had its time. Must not block. Returns whether it commits. */
    boolean insist(StoppableBody body) {
        lock.lock();
        try {
            long call = current.number();
            Kind kind = current.kind();
            if (kind == null || !kind.commits()) {
                return false;
            }
            Future<?> unused = body.schedule(
                    Duration.ZERO,
                    () -> interruptCommit(call, body, "was interrupted, because the call was stopped once more"));
            return true;
        } finally {
            lock.unlock();
        }
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
            Statement statement = current.statement();
            if (statement == null || !current.is(call) || current.isClosed()) {
                return true;
            }
            cancel(statement, call, body);
            long wait = Math.min(left, times.again().toNanos());
            while (wait > 0 && current.is(call) && !current.isClosed()) {
                wait = current.changed.awaitNanos(wait);
            }
        }
        return !current.is(call) || current.isClosed();
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
            current.changed.signalAll();
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
        LostConnection.afterStatement(body, why, "A cancel of its statement did not return within %s", times.longest());
        try {
            connection.abort(Runnable::run);
        } catch (Throwable failure) {
            LostConnection.notClosed(body, failure);
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
            LostConnection.afterStatement(body, why, what, longest);
        }
    }

    private void interruptCommit(long call, StoppableBody body, String what) {
        String why = body.whyStopped(); // as above
        if (force(call, body)) {
            LostConnection.afterCommit(body, why, what);
        }
    }

    private boolean force(long call, StoppableBody body) {
        lock.lock();
        try {
            boolean now = current.is(call) && !forced && body.force();
            forced |= now;
            return now;
        } finally {
            lock.unlock();
        }
    }
}
