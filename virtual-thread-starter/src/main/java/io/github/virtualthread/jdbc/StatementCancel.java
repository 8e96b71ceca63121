package io.github.virtualthread.jdbc;

import io.github.virtualthread.execution.StoppableBody;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.timer.TaskTimer;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends the call that runs on one physical connection when its body is stopped: by a cancel, or by an interrupt if nothing else helps. */
final class StatementCancel extends CurrentCall {

    private static final String GOES_ON = "the database may go on with the statement%s: look for the statement in the"
            + " database, and end it there";
    private static final String UNKNOWN = "whether it is committed is unknown%s: look for its rows in the database";

    private static final Logger logger = LoggerFactory.getLogger(LOGGER);

    // by reflection, because the driver is optional, and its class files need others
    /** {@code PGConnection.cancelQuery()}, null without the driver. */
    private static final @Nullable Method CANCEL = find("org.postgresql.PGConnection", "cancelQuery");

    /** {@code BaseConnection.getTransactionState()}, which asks the driver alone. */
    private static final @Nullable Method STATE = find("org.postgresql.core.BaseConnection", "getTransactionState");

    private final Connection connection;
    final boolean postgres;

    StatementCancel(Connection connection, Times times) {
        super(times);
        this.connection = connection;
        this.postgres = isPostgres(connection);
    }

    private static @Nullable Method find(String type, String method) {
        try {
            return Class.forName(type).getMethod(method);
        } catch (ReflectiveOperationException | LinkageError absent) {
            return null;
        }
    }

    /** Whether a connection is one of the driver of PostgreSQL, or leads to one. */
    private static boolean isPostgres(Connection connection) {
        try {
            return CANCEL != null && connection.isWrapperFor(CANCEL.getDeclaringClass());
        } catch (SQLException | RuntimeException unknown) {
            return false;
        }
    }

    /**
     * Whether the driver of PostgreSQL would send {@code BEGIN} together with the next statement. A cancel that hits {@code BEGIN} ends
     * that alone: the statement would be executed without a transaction, and so be committed.
     */
    boolean beginsTransaction() throws SQLException {
        return postgres && !connection.isClosed() && !connection.getAutoCommit() && !isInTransaction();
    }

    /** If the driver does not say it, none: one statement more does no harm. */
    private boolean isInTransaction() {
        try {
            return STATE != null
                    && !"IDLE".equals(String.valueOf(STATE.invoke(connection.unwrap(STATE.getDeclaringClass()))));
        } catch (SQLException | ReflectiveOperationException | RuntimeException unknown) {
            return false;
        }
    }

    /** By a comment: for an empty statement the driver sends nothing. */
    @Nullable
    Object beginTransaction() throws SQLException {
        try (Statement nothing = connection.createStatement()) {
            return nothing.execute("--");
        }
    }

    /** What a body does after its stop is mostly short, and needs no cancel. */
    void watch(StoppableBody body, boolean cancellable) {
        try (ScopedLock held = lock.hold()) {
            long call = number;
            if (statement == null || !cancellable) {
                watch = body.schedule(times.longest(), () -> interruptUncancellable(call, body));
            } else {
                watch = body.schedule(times.again(), () -> cancelUntilEnd(call, body));
            }
        } catch (OutOfMemoryError shortage) {
            // a rollback without a watch is better than none
        }
    }

    /**
     * Whether a thread gives a connection back to HikariCP. While others wait for one, it loops there until one of them has run, and
     * lets the thread park. With the flag, a thread does not park: if such threads hold all carriers, those that wait never run.
     */
    @Override
    public boolean goesOn(StackTraceElement[] stack) {
        for (StackTraceElement frame : stack) {
            if (frame.getClassName().equals("com.zaxxer.hikari.pool.ProxyConnection")
                    && frame.getMethodName().equals("close")) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void stopped(StoppableBody body) {
        try (ScopedLock held = lock.hold()) {
            long call = number;
            if (kind == null) {
                return; // it has just ended, and gets the interrupt
            }
            forced = true; // by the caller, if no thread can be had
            if (kind.commits()) {
                String what = "Its commit did not end within " + Durations.text(times.commit());
                watch = body.schedule(times.commit(), () -> interrupt(call, body, what, UNKNOWN));
            } else if (statement == null) {
                watch = body.schedule(times.longest(), () -> interruptUncancellable(call, body));
            } else {
                TaskTimer.daemon().name("cancel-statement").start(() -> cancelUntilEnd(call, body));
            }
            forced = false;
        }
    }

    /** A commit has had its time. */
    @Override
    public boolean stoppedAgain(StoppableBody body) {
        try (ScopedLock held = lock.hold()) {
            long call = number;
            if (kind == null || !kind.commits()) {
                return false;
            }
            String what = "Its commit was interrupted, because the call was stopped once more";
            Future<?> unused = body.schedule(Duration.ZERO, () -> interrupt(call, body, what, UNKNOWN));
            return true;
        }
    }

    private void cancelUntilEnd(long call, StoppableBody body) {
        boolean ended = false;
        try (ScopedLock held = lock.hold()) {
            ended = endsByCancel(call, body);
        } catch (InterruptedException byNobody) {
            Thread.currentThread().interrupt();
        } finally {
            if (!ended) {
                String grace = Durations.text(times.grace());
                interrupt(call, body, "Its statement did not end within " + grace + " of being cancelled", GOES_ON);
            }
        }
    }

    /** Only the time between cancels counts: MariaDB may need two seconds for one, whose effect comes after that. */
    private boolean endsByCancel(long call, StoppableBody body) throws InterruptedException {
        for (long left = times.grace().toNanos();
                left > 0;
                left -= times.again().toNanos()) {
            Statement running = statement;
            if (running == null || !is(call) || isClosed()) {
                return true;
            }
            cancel(running, body, call);
            long wait = Math.min(left, times.again().toNanos());
            while (wait > 0 && is(call) && !isClosed()) {
                wait = changed.awaitNanos(wait);
            }
        }
        return !is(call) || isClosed();
    }

    /**
     * Under the lock, but not while the driver sends the cancel. That of PostgreSQL ends what runs on the connection, whichever object
     * of the driver runs it, and as often as asked: its {@code Statement.cancel()} sends one cancel only, and none if the driver fetches
     * rows.
     */
    private void cancel(Statement running, StoppableBody body, long call) {
        Object cancel = new Object();
        Future<?> hangs = body.schedule(times.longest(), () -> giveUp(call, cancel, body));
        cancels++;
        cancelling = cancel;
        lock.unlock();
        try {
            if (postgres && CANCEL != null) {
                CANCEL.invoke(connection.unwrap(CANCEL.getDeclaringClass()));
            } else {
                running.cancel();
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
        try (ScopedLock held = lock.hold()) {
            if (cancelling != cancel) {
                return;
            }
            abort();
        }
        force(call, body);
        String longest = Durations.text(times.longest());
        warn(body, why, "A cancel of its statement did not return within " + longest, GOES_ON);
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

    private void interruptUncancellable(long call, StoppableBody body) {
        String longest = Durations.text(times.longest());
        String what = "A call of its database driver that cannot be cancelled did not end within " + longest;
        interrupt(call, body, what, GOES_ON);
    }

    /** The last resort. */
    private void interrupt(long call, StoppableBody body, String what, String lost) {
        String why = body.whyStopped(); // before the call ends, as in giveUp
        if (force(call, body)) {
            warn(body, why, what, lost);
        }
    }

    private boolean force(long call, StoppableBody body) {
        try (ScopedLock held = lock.hold()) {
            boolean now = is(call) && !forced && body.force();
            forced |= now;
            return now;
        }
    }

    private static void warn(StoppableBody body, String why, String what, String lost) {
        logger.warn("{}. {}. Its connection is lost, and {}", why, what, lost.formatted(permit(body)));
    }

    private static String permit(StoppableBody body) {
        TaskLimit limit = body.spec().limit();
        return limit == null ? "" : " although the permit of limit '" + limit.name() + "' is free for other calls";
    }
}
