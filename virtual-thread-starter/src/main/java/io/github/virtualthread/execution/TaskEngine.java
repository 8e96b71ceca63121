package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.DrainCounts.Ending;
import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.PermitRequest;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The executor of an application: every call gets a virtual thread of its own when its limit has a permit for it.
 *
 * <p>Thread-safe. An engine is open when it is created; {@link #stop} drains it and {@link #start} opens it again; {@link
 * #close} is final.
 */
@Internal
public final class TaskEngine implements AutoCloseable {

    private static final Logger logger = LoggerFactory.getLogger(TaskEngine.class);

    /** How often a stop looks how many calls have ended since the last look. */
    private static final Duration STOP_LOOK_INTERVAL = Duration.ofMillis(100);

    /** If so many have ended, it looks again. */
    private static final int ENDS_WORTH_ANOTHER_LOOK = 200;

    /** How long it looks at most. */
    private static final Duration LONGEST_LOOKS = Duration.ofSeconds(10);

    /** Calls need these first when they fail. A class that finds no memory for its initialization stays broken. */
    private static final List<Class<?>> NEEDED_LATE = List.of(
            Cause.class,
            Durations.class,
            Ending.class,
            Failures.class,
            Outcome.class,
            Reason.class,
            SafeLog.class,
            StackWalker.class);

    private final TaskLimits limits;
    private final EngineParts parts;
    private volatile Runnable limited = () -> {};

    /**
     * Creates an engine, which accepts calls at once.
     *
     * @param limits limits of the application
     * @param propagation what tasks see of their callers
     * @param timer ends bodies that run longer than their timeout
     * @param threads makes and names the threads of tasks
     * @param extensions listeners and decorators of the application
     * @param callerTrace whether the failure of a call also shows, as a suppressed exception, where the call was made
     */
    public TaskEngine(
            TaskLimits limits,
            ContextPropagation propagation,
            TaskTimer timer,
            TaskThreads threads,
            CallExtensions extensions,
            boolean callerTrace) {
        this(limits, EngineParts.of(propagation, timer, threads, extensions, callerTrace));
    }

    TaskEngine(TaskLimits limits, EngineParts parts) {
        this.limits = limits;
        this.parts = parts;
    }

    /**
     * Creates what all calls of one name share.
     *
     * @param name name of the calls, in threads and messages
     * @param limit name of their limit, null for none
     * @param timeout maximum run of a body, more than zero; null for no maximum
     * @param deadline maximum time of a call from its submission, for its wait and its run together, more than zero; null for no
     *     maximum
     * @return spec for {@link #submit}, {@link #execute} and {@link #call}
     * @throws IllegalArgumentException if the limit does not exist (the message lists the existing ones), or if {@code
     *     timeout} or {@code deadline} is zero or negative
     */
    public TaskSpec spec(String name, @Nullable String limit, @Nullable Duration timeout, @Nullable Duration deadline) {
        Deadline.requirePositive(name + ": timeout", timeout);
        Deadline.requirePositive(name + ": deadline", deadline);
        TaskLimit found = limit == null ? null : limits.get(limit);
        if (found != null) {
            limited.run();
        }
        return new EngineSpec(name, found, timeout, deadline, parts.threads().named(name), parts);
    }

    /** From now on the action is called whenever a spec with a limit is created. */
    void watched(Runnable action) {
        limited = action;
    }

    /**
     * Creates what all calls of one name share, without a deadline of their own.
     *
     * @param name name of the calls, in threads and messages
     * @param limit name of their limit, null for none
     * @param timeout maximum run of a body, more than zero; null for no maximum
     * @return spec for {@link #submit}, {@link #execute} and {@link #call}
     * @throws IllegalArgumentException if the limit does not exist (the message lists the existing ones), or if {@code
     *     timeout} is zero or negative
     */
    public TaskSpec spec(String name, @Nullable String limit, @Nullable Duration timeout) {
        return spec(name, limit, timeout, null);
    }

    /**
     * Creates what all calls of one name share, without a timeout and without a deadline of their own.
     *
     * @param name name of the calls, in threads and messages
     * @param limit name of their limit, null for none
     * @return spec for {@link #submit}, {@link #execute} and {@link #call}
     * @throws IllegalArgumentException if the limit does not exist; the message lists the existing ones
     */
    public TaskSpec spec(String name, @Nullable String limit) {
        return spec(name, limit, null);
    }

    /**
     * Returns the spec of one call that has a key: under its limit, keys take turns. Without a limit, the key has no effect.
     *
     * @param spec name and limit
     * @param key key of the call
     * @return spec for one call of {@link #submit}, {@link #execute} or {@link #call}
     */
    public TaskSpec keyed(TaskSpec spec, String key) {
        Objects.requireNonNull(key, "key");
        return spec.limit() == null ? spec : EngineSpec.of(spec).forOneCall(key, null);
    }

    /**
     * Runs a body on a virtual thread. Never blocks.
     *
     * @param spec name and limit
     * @param body what to run
     * @return future of every outcome: the value, the exception of the body, unwrapped, a cancellation, a
     *     {@link io.github.virtualthread.limit.LimitExceededException} for a rejection, or a
     *     {@link io.github.virtualthread.limit.CallTimeoutException}; {@code cancel(true)} interrupts the body
     */
    public CompletableFuture<@Nullable Object> submit(TaskSpec spec, TaskBody body) {
        Task task = task(spec, body, null);
        submit(task);
        return task.future();
    }

    /**
     * Runs a body on a virtual thread without a result. Never blocks.
     *
     * @param spec name and limit
     * @param body what to run
     * @param handler gets the exception of the body, or its rejection, with the caller's context, on a virtual thread, or on a
     *     platform thread if no carrier is free
     */
    public void execute(TaskSpec spec, TaskBody body, FailureHandler handler) {
        submit(task(spec, body, handler));
    }

    /**
     * Runs a body on the current thread, under the limit. Waits for a permit in the queue of the limit, for its maximum wait.
     * If the limit has no maximum wait, a platform thread waits for 30 s at most. A timeout of the spec does not apply. After
     * the engine has stopped, a call still runs if a permit is free, and is rejected if it would wait.
     *
     * <p>If the current thread holds a permit of the limit, or of one within it, the body runs at once under that permit. It is a
     * part of the call that holds the permit: listeners are not notified, and a key has no effect.
     *
     * <p>A deadline bounds the wait, and calls that the body makes have what is left of it. It does not interrupt the body. If it has
     * passed already, the call is rejected in any case.
     *
     * @param spec name, limit and deadline
     * @param body what to run
     * @return value of the body
     * @throws io.github.virtualthread.limit.LimitExceededException if the limit rejects the call, or the wait was too long
     * @throws InterruptedException if the current thread is interrupted while it waits
     * @throws Throwable any failure of the body
     */
    public @Nullable Object call(TaskSpec spec, TaskBody body) throws Throwable {
        TaskLimit limit = spec.limit();
        Deadline deadline = Deadline.earliest(spec.deadline(), Deadline.current());
        if (limit == null || holdsPermitOf(limit)) {
            if (deadline != null && deadline.isOver()) {
                throw CallerTask.reject(spec, deadline.reason(Reason.DEADLINE), deadline);
            }
            return run(body, deadline);
        }
        CallerTask permit = CallerTask.acquire(spec, deadline);
        Throwable failure = null;
        try {
            return run(body, deadline);
        } catch (Throwable thrown) {
            failure = thrown;
            throw thrown;
        } finally {
            permit.close(failure);
        }
    }

    private static @Nullable Object run(TaskBody body, @Nullable Deadline deadline) throws Throwable {
        return deadline == null ? body.run() : deadline.run(body);
    }

    /**
     * Takes a permit for a call that may outlive its thread. Waits for it as {@link #call} does; but always takes one of its own.
     * A deadline of the spec, or of the current thread, bounds the wait only.
     *
     * @param spec name and limit, which is not null
     * @return permit that the current thread holds until it leaves it
     * @throws io.github.virtualthread.limit.LimitExceededException if the limit rejects the call, or the wait was too long
     * @throws InterruptedException if the current thread is interrupted while it waits
     */
    public HeldPermit acquire(TaskSpec spec) throws InterruptedException {
        return new HeldPermit(CallerTask.acquire(spec, Deadline.earliest(spec.deadline(), Deadline.current())));
    }

    /** As {@link #submit(TaskSpec, TaskBody)}, but throws a rejection that comes before this returns. */
    CompletableFuture<@Nullable Object> submitOrThrow(Task task) {
        submit(task);
        if (task.refusal() instanceof LimitExceededException refused) {
            throw refused;
        }
        return task.future();
    }

    /**
     * Whether the current thread holds a permit of a limit, or of one within it: a {@link #call} runs at once then.
     *
     * @param limit a limit
     * @return whether a call on this thread holds the permit
     */
    public boolean holdsPermitOf(TaskLimit limit) {
        return parts.holders().currentHolds(limit);
    }

    /**
     * Returns the calls that wait and run, for operators.
     *
     * @return view that is always up to date
     */
    public LiveCalls liveCalls() {
        return new LiveCalls(limits, parts.live(), parts.holders());
    }

    /** What its calls share. */
    EngineParts parts() {
        return parts;
    }

    Task task(TaskSpec spec, TaskBody body, @Nullable FailureHandler handler) {
        return parts.callerTrace() ? new CallerTrace.TracedTask(spec, body, handler) : new Task(spec, body, handler);
    }

    void submit(Task task) {
        try {
            task.observe();
        } catch (Throwable shortage) {
            parts.live().begin(task);
            task.rejectUnqueued(shortage);
            return;
        }
        parts.live().begin(task); // before the gate is checked: a stop waits for every call that was accepted
        if (!accepts()) {
            task.rejectUnqueued(Reason.SHUTDOWN);
            return;
        }
        task.submit();
        // stopped in between: the stop that emptied the queues may have missed this call
        if (parts.gate().isStopped() && task.leaveQueue()) {
            task.rejectUnqueued(Reason.SHUTDOWN);
        }
    }

    private boolean accepts() {
        Gate gate = parts.gate();
        if (gate.isOpen()) {
            return true;
        }
        // a running task may need further calls to finish; one of another engine is not waited for here
        Task caller = Task.current();
        return gate.isDraining() && caller != null && gate.equals(caller.parts().gate());
    }

    /** Whether no call waits or runs. */
    boolean isIdle() {
        return parts.live().isEmpty();
    }

    /** Accepts calls again after {@link #stop}; does nothing after {@link #close}. Does not block. */
    public void start() {
        parts.threads().warmUp(NEEDED_LATE);
        boolean unused = parts.gate().reopen();
    }

    /**
     * Stops accepting calls, except from running tasks, and waits for the calls that run and wait. When the period is over,
     * running calls are interrupted and waiting calls are rejected. Every future is complete on return, unless listeners and
     * continuations take more than ten seconds while bodies keep all carriers busy. Blocks for the period at most, and for a few
     * seconds more while interrupted bodies end. Does nothing if the engine is already stopped.
     *
     * @param period how long calls may take to finish, zero for no time
     */
    public void stop(Duration period) {
        Gate gate = parts.gate();
        if (gate.isStopped()) {
            return;
        }
        DrainCounts counts = gate.counts();
        if (gate.drain() && period.isPositive()) {
            SafeLog.write(() -> logDrain(period));
        }
        parts.live().drain(period);
        if (!gate.stop()) {
            return; // what runs now may go on
        }
        try {
            end();
        } finally {
            if (gate.conclude(counts)) {
                SafeLog.write(() -> logEnd(counts));
                parts.rejections().conclude();
            }
        }
    }

    private void logDrain(Duration period) {
        int running = parts.live().running().size();
        int waiting = limits.all().stream().mapToInt(TaskLimit::waiting).sum();
        if (running + waiting > 0) {
            logger.info(
                    "Virtual threads draining for up to {}: {} running, {} waiting",
                    Durations.text(period),
                    running,
                    waiting);
        }
    }

    private static void logEnd(DrainCounts counts) {
        if (!counts.isEmpty()) {
            logger.info("Virtual threads stopped after {} ms: {}", counts.millis(), counts);
        }
        String dropped = counts.dropped();
        if (!dropped.isEmpty()) {
            logger.warn(
                    "The stop has dropped calls, whose bodies never ran: {}. A longer await-termination-period lets more of"
                            + " them run; work that must not get lost belongs in a database or a broker.",
                    dropped);
        }
    }

    private void end() {
        // checked again: a call that was accepted long ago may have started just now
        if (!isIdle()) {
            limits.rejectWaiting();
            List<Task> running = parts.live().running();
            if (parts.gate().isStopped()) { // otherwise the engine was started again: what runs now may go on
                running.forEach(Task::stop);
                parts.live().drain(TimeBounds.GRACE);
                awaitMany();
                new Completer(parts.threads(), Task::givingUp).complete(() -> left(running), this::unreported);
            }
        }
    }

    /** While carriers are free, rejections are reported by themselves, very many within a second. */
    private void awaitMany() {
        LiveTasks live = parts.live();
        long begin = System.nanoTime();
        long before;
        do {
            before = live.left();
            live.drain(STOP_LOOK_INTERVAL);
        } while (before - live.left() >= ENDS_WORTH_ANOTHER_LOOK
                && System.nanoTime() - begin < LONGEST_LOOKS.toNanos());
    }

    private List<Task> unreported() {
        return limits.all().stream()
                .flatMap(limit -> PermitRequest.unreported(limit).stream())
                .distinct()
                .filter(Task.class::isInstance)
                .map(Task.class::cast)
                .toList();
    }

    /** The running tasks. If calls are accepted again, those that ran before: none that came since may be ended. */
    private List<Task> left(List<Task> before) {
        List<Task> now = parts.live().running();
        // checked last: if the engine is still stopped, none that came since is among them
        return parts.gate().isStopped() ? now : before;
    }

    /** Waits until no call waits or runs, or the time is over; returns whether none does. */
    boolean awaitIdle(Duration longest) throws InterruptedException {
        return parts.live().await(TimeUnit.NANOSECONDS.convert(longest));
    }

    /** Stops for good, without a period. */
    @Override
    public void close() {
        stop(Duration.ZERO);
        parts.gate().close();
        parts.rejections().conclude(); // the timer ends, too
    }
}
