package io.github.virtualthread.execution;

import io.github.virtualthread.context.CapturedContext;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.context.SafeLog;
import io.github.virtualthread.execution.DrainCounts.Ending;
import io.github.virtualthread.execution.InterruptibleCall.Cause;
import io.github.virtualthread.execution.TaskListener.Outcome;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.limit.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.task.TaskDecorator;

/**
 * The virtual-thread-per-task executor of an application: every call gets a virtual thread of its own, once its limit has a
 * permit for it.
 *
 * <p>Thread-safe. Open from the start; {@link #stop} drains it and {@link #start} opens it again; {@link #close} is final.
 */
public final class TaskEngine implements AutoCloseable {

    /** How long interrupted bodies may take to end by themselves. */
    static final Duration GRACE = Duration.ofSeconds(1);

    /** What calls need first when they fail: a class that finds no memory for its initialization stays broken. */
    private static final List<Class<?>> NEEDED_LATE = List.of(
            Cause.class,
            Durations.class,
            Ending.class,
            Failures.class,
            Outcome.class,
            Reason.class,
            RunTimeout.class,
            SafeLog.class,
            StackWalker.class);

    private enum Phase {
        OPEN,
        DRAINING,
        STOPPED,
        CLOSED
    }

    private final TaskLimits limits;
    private final ContextPropagation propagation;
    private final TaskThreads threads;
    private final TaskTimer timer;
    private final Rejections rejections;
    private final TaskListeners listeners;
    private final TaskDecorators decorators;
    private final boolean callerTrace;
    private final Patience patience;
    private final LiveTasks live = new LiveTasks();
    private final Holders holders = new Holders();
    private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.OPEN);
    private final AtomicReference<@Nullable DrainCounts> drain =
            new AtomicReference<>(); // null while none is under way

    /**
     * An engine that accepts calls at once.
     *
     * @param limits limits of the application
     * @param propagation what tasks see of their callers
     * @param timer ends the runs of bodies with a timeout
     * @param threadNamePrefix begin of the names of all threads, may be empty
     * @param contextClassLoader context class loader of all threads
     * @param listeners looks up what hears of every call, when the first is made
     * @param decorators looks up what is put around the body of every task, the first one innermost, when the first is
     *     submitted
     * @param callerTrace whether the failure of a call carries, as a suppressed exception, where the call was made
     */
    public TaskEngine(
            TaskLimits limits,
            ContextPropagation propagation,
            TaskTimer timer,
            String threadNamePrefix,
            ClassLoader contextClassLoader,
            Supplier<? extends List<TaskListener>> listeners,
            Supplier<? extends List<TaskDecorator>> decorators,
            boolean callerTrace) {
        this(
                limits,
                propagation,
                timer,
                threadNamePrefix,
                contextClassLoader,
                listeners,
                decorators,
                callerTrace,
                Patience.DEFAULT);
    }

    TaskEngine(
            TaskLimits limits,
            ContextPropagation propagation,
            TaskTimer timer,
            String threadNamePrefix,
            ClassLoader contextClassLoader,
            Supplier<? extends List<TaskListener>> listeners,
            Supplier<? extends List<TaskDecorator>> decorators,
            boolean callerTrace,
            Patience patience) {
        this.limits = limits;
        this.propagation = propagation;
        this.timer = timer;
        this.rejections = new Rejections(timer, Duration.ofMinutes(1));
        this.listeners = new TaskListeners(new Beans<>("Listeners of calls", listeners), rejections);
        this.decorators = new TaskDecorators(new Beans<>("Task decorators", decorators));
        this.callerTrace = callerTrace;
        this.patience = patience;
        this.threads = new TaskThreads(threadNamePrefix, contextClassLoader);
    }

    /**
     * What all calls under one name have in common.
     *
     * @param name name of the tasks, in threads and messages
     * @param limit name of their limit, null for none
     * @param timeout longest run of a body, more than zero; null for any time
     * @return spec for {@link #submit}, {@link #execute} and {@link #call}
     * @throws IllegalArgumentException if there is no such limit, the message lists those there are; or if {@code timeout} is
     *     zero or negative
     */
    public TaskSpec spec(String name, @Nullable String limit, @Nullable Duration timeout) {
        if (timeout != null && !timeout.isPositive()) {
            throw new IllegalArgumentException(
                    "%s: timeout must be longer than zero, was %s".formatted(name, Durations.text(timeout)));
        }
        TaskLimit found = limit == null ? null : limits.get(limit);
        return new TaskSpec(this, name, found, timeout, threads.named(name));
    }

    /**
     * What all calls under one name have in common, without a timeout.
     *
     * @param name name of the tasks, in threads and messages
     * @param limit name of their limit, null for none
     * @return spec for {@link #submit}, {@link #execute} and {@link #call}
     * @throws IllegalArgumentException if there is no such limit; the message lists those there are
     */
    public TaskSpec spec(String name, @Nullable String limit) {
        return spec(name, limit, null);
    }

    /**
     * Runs a body on a virtual thread. Never blocks.
     *
     * @param spec name and limit
     * @param body what to run
     * @return gets every outcome: the value, the exception of the body as it is, a cancellation, and
     *     {@link io.github.virtualthread.limit.LimitExceededException} for a rejection; {@code cancel(true)} interrupts
     *     the body
     */
    public CompletableFuture<@Nullable Object> submit(TaskSpec spec, TaskBody body) {
        Task task = task(spec, body, null);
        CompletableFuture<@Nullable Object> future = task.future();
        submit(task);
        return future;
    }

    /**
     * Runs a body on a virtual thread that nobody waits for. Never blocks.
     *
     * @param spec name and limit
     * @param body what to run
     * @param onFailure told what the body threw, or why it was rejected; on a virtual thread, with the context of the caller
     */
    public void execute(TaskSpec spec, TaskBody body, Consumer<Throwable> onFailure) {
        submit(task(spec, body, onFailure));
    }

    /**
     * Runs a body on the current thread, under the limit. Waits for a permit in the queue of the limit: at most its longest
     * wait, and where it has none, on a platform thread at most 30 s. A timeout of the spec does not apply. When the engine has
     * been stopped, a call still runs where a permit is free, and is rejected where it would wait.
     *
     * @param spec name and limit
     * @param body what to run
     * @return what the body returns
     * @throws io.github.virtualthread.limit.LimitExceededException if the limit refuses the call, or the wait was too long
     * @throws InterruptedException if the current thread is interrupted while it waits
     * @throws Throwable whatever the body throws
     */
    public @Nullable Object call(TaskSpec spec, TaskBody body) throws Throwable {
        if (spec.limit() == null) {
            return body.run();
        }
        CallerPermit permit = CallerPermit.acquire(spec);
        Throwable failure = null;
        try {
            return body.run();
        } catch (Throwable thrown) {
            failure = thrown;
            throw thrown;
        } finally {
            permit.close(failure);
        }
    }

    /** As {@link #submit(TaskSpec, TaskBody)}, but throws a refusal that comes before this returns. */
    CompletableFuture<@Nullable Object> submitOrThrow(TaskSpec spec, TaskBody body) {
        Task task = task(spec, body, null);
        CompletableFuture<@Nullable Object> future = task.future();
        submit(task);
        if (task.refusal() instanceof LimitExceededException refused) {
            throw refused;
        }
        return future;
    }

    /**
     * Whether a failure is the rejection of the call that the current thread is the one of, and no failure of its body. The log
     * has rejections already: one line a minute for each limit, with their number.
     *
     * @param failure what the handler of a call is told
     * @return false also for a rejection that the body of the call has got from another call
     */
    @SuppressWarnings("ReferenceEquality") // the very exception
    public static boolean isRejection(Throwable failure) {
        Task task = TaskThreads.current();
        return failure instanceof LimitExceededException && task != null && task.refusal() == failure;
    }

    /**
     * The calls that wait and run, for operators.
     *
     * @return view that is always up to date
     */
    public LiveCalls liveCalls() {
        return new LiveCalls(limits, live, holders);
    }

    private Task task(TaskSpec spec, TaskBody body, @Nullable Consumer<Throwable> onFailure) {
        return callerTrace ? new TracedTask(spec, body, onFailure) : new Task(spec, body, onFailure);
    }

    /** Whether a failure also shows where its call was made. */
    boolean tracesCallers() {
        return callerTrace;
    }

    CapturedContext capture() {
        return propagation.capture();
    }

    void submit(Task task) {
        try {
            listeners.submitted(task);
        } catch (Throwable noRoom) {
            live.begin(task);
            task.refuse(noRoom);
            return;
        }
        live.begin(task); // before the phase is looked at: who stops waits for every call that was accepted
        if (!accepts()) {
            task.refuse();
            return;
        }
        task.submit();
        if (isStopped()) {
            // stopped in between: whoever emptied the queues may have missed this one
            task.withdraw();
        }
    }

    private boolean accepts() {
        Phase now = phase.get();
        if (now != Phase.DRAINING) {
            return now == Phase.OPEN;
        }
        // a running task may need further calls to finish; one of another engine is not waited for here
        Task caller = TaskThreads.current();
        return caller != null && caller.engine() == this;
    }

    TaskListeners listeners() {
        return listeners;
    }

    Rejections rejections() {
        return rejections;
    }

    TaskDecorators decorators() {
        return decorators;
    }

    TaskTimer timer() {
        return timer;
    }

    Patience patience() {
        return patience;
    }

    Holders holders() {
        return holders;
    }

    /** Whether calls are accepted from everybody. */
    boolean isOpen() {
        return phase.get() == Phase.OPEN;
    }

    boolean isStopped() {
        Phase now = phase.get();
        return now == Phase.STOPPED || now == Phase.CLOSED;
    }

    /** Starts the thread of a task that has its permit. Who hears that this fails has the task leave again. */
    void start(Task task) {
        live.enter(task);
        task.spec().threads().newThread(task).start();
    }

    /**
     * Has a refused task tell why, on a thread that may block.
     *
     * @param oneOfMany whether to block while many of them wait for their threads already
     */
    void tell(Task task, boolean oneOfMany) {
        live.enterOnce(task);
        try {
            if (oneOfMany) {
                timer.handOffInTurn(task::runHere);
            } else {
                timer.handOff(task::runHere);
            }
        } catch (Throwable noThread) {
            live.leave(task);
            throw noThread;
        }
    }

    TaskThreads threads() {
        return threads;
    }

    /** The tasks that have not ended, and callers that wait. */
    LiveTasks live() {
        return live;
    }

    /** Whether no call waits or runs. */
    boolean isIdle() {
        return live.isEmpty();
    }

    /** Counts how a task ends while stopping; {@code ending} is null for one that does not count. Null if it is not counted. */
    @Nullable
    LongAdder count(Task task, @Nullable Ending ending) {
        try {
            DrainCounts counts = phase.get() == Phase.OPEN ? null : drain.get();
            return counts == null || ending == null
                    ? null
                    : counts.add(task.spec().limitName(), ending);
        } catch (Throwable noRoom) {
            return null; // the call is worth more than its place in a line of the log
        }
    }

    /** Accepts calls again after {@link #stop}; does nothing after {@link #close}. Does not block. */
    public void start() {
        threads.warmUp(NEEDED_LATE);
        if (phase.compareAndSet(Phase.STOPPED, Phase.OPEN)) {
            rejections.started();
        }
    }

    /**
     * Stops accepting calls, except from running tasks, and waits for those that run and wait. When the period is over, the
     * running are interrupted, the waiting rejected; every future is complete on return. Blocks for the period at most, and
     * a few seconds more while interrupted bodies end. Does nothing where the engine has been stopped already.
     *
     * @param period how long calls may finish, zero for not at all
     */
    public void stop(Duration period) {
        if (isStopped()) {
            return;
        }
        // one line for all stops that go on at the same time
        DrainCounts counts =
                Objects.requireNonNull(drain.updateAndGet(other -> other == null ? new DrainCounts() : other));
        if (phase.compareAndSet(Phase.OPEN, Phase.DRAINING) && period.isPositive()) {
            DrainCounts.logBegin(period, live, limits);
        }
        live.drain(period);
        if (!phase.compareAndSet(Phase.DRAINING, Phase.STOPPED) && !isStopped()) {
            return; // another stop has come first, and a start after it: what runs now is to run
        }
        try {
            end();
        } finally {
            if (drain.compareAndSet(counts, null)) {
                counts.log();
                rejections.stopped();
            }
        }
    }

    private void end() {
        // asked again: a call that was accepted long ago may have started just now
        if (!isIdle()) {
            limits.rejectWaiting();
            List<Task> running = live.running();
            if (isStopped()) { // otherwise started again in between: what runs now is to run
                running.forEach(Task::stop);
                live.drain(GRACE);
                new Completer(threads, Task::givingUp).complete(() -> left(running));
            }
        }
    }

    /** Those that run; if calls are accepted again, those that ran before, because none that came since is to be ended. */
    private List<Task> left(List<Task> before) {
        List<Task> now = live.running();
        return isStopped() ? now : before; // looked at last: where it says so, none that came since is among them
    }

    /** Waits until no call waits or runs, or the time is over; returns whether it came to that. */
    boolean awaitIdle(Duration longest) throws InterruptedException {
        return live.await(TimeUnit.NANOSECONDS.convert(longest));
    }

    /** Stops without a period, unless stopped already, for good. */
    @Override
    public void close() {
        stop(Duration.ZERO);
        phase.set(Phase.CLOSED);
    }
}
