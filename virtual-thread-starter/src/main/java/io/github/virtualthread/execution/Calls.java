package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** What packages beside the engine ask of calls: endpoint, meters, statements and requests. Nothing here blocks. */
@Internal
public final class Calls {

    private Calls() {}

    /**
     * Creates the calls by hand of an engine.
     *
     * @param engine runs the tasks
     * @param uncaught gets the failures of tasks of which nobody has a future, on a virtual thread
     * @return the bean that users know
     */
    public static VirtualThreads byHand(TaskEngine engine, FailureHandler uncaught) {
        return new VirtualThreads(engine, uncaught);
    }

    /**
     * Returns the engine behind a bean that users know.
     *
     * @param threads any
     * @return its engine
     */
    public static TaskEngine engineOf(VirtualThreads threads) {
        return threads.engine;
    }

    /**
     * Returns the body that runs on the current thread, or whose continuations do. Reads nothing but the thread.
     *
     * @return the body, null on a thread that the starter did not create
     */
    public static @Nullable StoppableBody currentBody() {
        return Task.current();
    }

    /**
     * Returns the deadline of what begins now on the current thread, for {@link #callBy}.
     *
     * @param length time that it has of its own, more than zero, null for none
     * @return the earlier of its own and that of the thread, null if there is neither
     */
    public static @Nullable Deadline deadline(@Nullable Duration length) {
        return Deadline.earliest(length, Deadline.current());
    }

    /**
     * Runs a task on the current thread with a deadline that may have begun on another, or with that of the thread if it is earlier.
     *
     * @param deadline of the task, also if it has passed
     * @param task what to run
     * @param <T> type of its value
     * @return value of the task
     * @throws Exception any exception of the task
     */
    public static <T extends @Nullable Object> T callBy(Deadline deadline, Callable<T> task) throws Exception {
        return Deadline.callBy(Deadline.earlier(deadline, Deadline.current()), task);
    }

    /**
     * Whether a call takes a permit of a limit, which is its own or one around that.
     *
     * @param call call that waits for its permits or holds them
     * @param limit a limit
     * @return false also if the thread of the call held a permit of that limit before
     */
    public static boolean takesPermitOf(TaskCall call, TaskLimit limit) {
        return ((Call) call).takesPermitOf(limit);
    }

    /**
     * Returns how long a call waited, as {@link TaskCall#waited()} does, without an object.
     *
     * @param call a call
     * @return nanoseconds
     */
    public static long waitedNanos(TaskCall call) {
        return call instanceof Call known ? known.waitedNanos() : call.waited().toNanos();
    }

    /**
     * Returns how long the body of a call ran, as {@link TaskCall#ran()} does, without an object.
     *
     * @param call a call
     * @return nanoseconds
     */
    public static long ranNanos(TaskCall call) {
        return call instanceof Call known ? known.ranNanos() : call.ran().toNanos();
    }

    /**
     * Returns what a listener needs for the calls of one spec. It is looked up at the first of them and kept with the spec, so once
     * for an annotated method, and once for each call by hand.
     *
     * @param spec spec of a call, as the listener sees it
     * @param listener who keeps it
     * @param lookup returns the same object for all specs of one name and limit
     * @param <T> what it keeps, one type for each listener
     * @return what was looked up first
     */
    @SuppressWarnings("unchecked") // each listener keeps one thing
    public static <T> T kept(TaskSpec spec, TaskListener listener, Function<? super TaskSpec, ? extends T> lookup) {
        Object known = spec.kept(listener);
        return (T) (known == null ? spec.keep(listener, lookup.apply(spec)) : known);
    }
}
