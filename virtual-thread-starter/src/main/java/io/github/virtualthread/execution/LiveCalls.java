package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.context.CapturedContext;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.InterruptibleCall.Shields;
import io.github.virtualthread.execution.StoppableBody.Shield;
import io.github.virtualthread.limit.PermitRequest;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The calls that wait and run at this moment. Each method takes time in proportion to the largest number of calls that ever
 * ran at once, and blocks a limit while its first waiting calls are copied. It costs the calls themselves nothing.
 */
@Internal
public final class LiveCalls {

    private final TaskLimits limits;
    private final LiveTasks tasks;
    private final PermitHolders holders;

    LiveCalls(TaskLimits limits, LiveTasks tasks, PermitHolders holders) {
        this.limits = limits;
        this.tasks = tasks;
        this.holders = holders;
    }

    /**
     * Returns the calls whose body runs, the oldest first.
     *
     * @return calls with and without a limit
     */
    public List<LiveCall> running() {
        long now = System.nanoTime(); // to one moment: ages that go on while they are compared have no order
        return threads()
                .sorted(Comparator.comparingLong((LiveCall live) -> ((Call) live.call()).ranAt(now))
                        .reversed())
                .toList();
    }

    /**
     * Returns the calls whose body runs under a limit, or under one within it, the oldest first.
     *
     * @param limit limit of the calls, null for calls without one
     * @return calls that run
     */
    public List<LiveCall> running(@Nullable TaskLimit limit) {
        return running().stream()
                .filter(live -> isUnder(live.call().spec().limit(), limit))
                .toList();
    }

    private static boolean isUnder(@Nullable TaskLimit own, @Nullable TaskLimit limit) {
        return limit == null ? own == null : own != null && own.includes(limit);
    }

    /**
     * Returns the calls that wait for a permit of a limit, in the order in which they came.
     *
     * @param limit limit of the calls
     * @param most maximum number of calls
     * @return those that have waited longest
     */
    public List<LiveCall> waiting(TaskLimit limit, int most) {
        return PermitRequest.waiting(limit, most).stream()
                .filter(Call.class::isInstance)
                .map(request -> waiting((Call) request))
                .toList();
    }

    /**
     * Finds a call that waits or runs under a limit.
     *
     * @param limit limit of the call, null for a call without one
     * @param id number of a call, by {@link TaskCall#id()}
     * @return the call, empty if no call of that number waits or runs there
     */
    public Optional<LiveCall> find(@Nullable TaskLimit limit, long id) {
        Optional<LiveCall> waiting =
                limit == null ? Optional.empty() : waiting(limit, id).map(LiveCalls::waiting);
        // running calls are searched last: a call that gets its permit in between is found there
        return waiting.or(() ->
                running(limit).stream().filter(live -> live.call().id() == id).findFirst());
    }

    private static Optional<Call> waiting(TaskLimit limit, long id) {
        return PermitRequest.findWaiting(limit, request -> request instanceof Call call && call.hasId(id))
                .map(Call.class::cast);
    }

    private static LiveCall waiting(Call call) {
        return new LiveCall(call, null, false, context(call));
    }

    /**
     * Finds the call whose body runs on a thread.
     *
     * @param threadId identifier of a thread
     * @return the innermost call of that thread
     */
    public Optional<LiveCall> onThread(long threadId) {
        return threads()
                .filter(live -> live.thread() != null && live.thread().threadId() == threadId)
                .findFirst();
    }

    /**
     * Returns the SQL that the body of a call waits for, which may be personal data. Known with {@code
     * virtual-thread.jdbc.cancel-statements} only.
     *
     * @param call a call
     * @return the whole statement, empty if the call is in none, or if its SQL is unknown
     */
    public Optional<String> statement(TaskCall call) {
        Shield part = call instanceof Task task ? Shields.of(task) : null;
        if (part == null) {
            return Optional.empty();
        }
        String statement = part.statement();
        // in between, the connection may have gone to another call
        return part.equals(Shields.of((Task) call)) ? Optional.ofNullable(statement) : Optional.empty();
    }

    /**
     * Cancels a call. A waiting call never runs; the body of a running call is interrupted. The caller sees a cancellation.
     * Does not wait for the end of the body. A call on its caller's own thread cannot be interrupted from outside, because
     * that thread may already do something else.
     *
     * @param id number of a call, by {@link TaskCall#id()}
     * @return the call, empty if no call of that number waits or runs, or if it is on its caller's own thread
     */
    public Optional<TaskCall> cancel(long id) {
        Optional<Call> waiting = limits.all().stream()
                .flatMap(limit -> waiting(limit, id).stream())
                .findFirst();
        // running calls are searched last: a call that gets its permit in between is found there
        Optional<Task> task = waiting.or(() -> tasks.running().stream()
                        .filter(running -> running.hasId(id))
                        .findFirst())
                .filter(Task.class::isInstance)
                .map(Task.class::cast);
        // on a platform thread: bodies may keep all carriers busy
        task.ifPresent(found -> new Completer(found.parts().threads(), LiveCalls::cancelling)
                .all(List.of(found), Completer.LONGEST_ATTEMPT));
        return task.map(TaskCall.class::cast);
    }

    /**
     * Stops a call once more, whose future is complete and whose body has time to end by itself: it commits. Does not wait for
     * the end of the body.
     *
     * @param call a call that was stopped before
     * @return whether its commit is interrupted now
     */
    public boolean insist(TaskCall call) {
        return call instanceof Task task && task.insist();
    }

    private static Runnable cancelling(Task task) {
        return () -> ContextPropagation.run(task.context(), () -> task.future().cancel(true));
    }

    /** Calls whose body runs, in no order. */
    Stream<LiveCall> threads() {
        Stream<LiveCall> ofCallers = holders.callers().entrySet().stream()
                .flatMap(entry -> Stream.iterate(entry.getValue(), Objects::nonNull, CallerTask::outer)
                        .filter(LiveCalls::isRunning)
                        .map(permit -> live(permit, entry.getKey())));
        Stream<LiveCall> ofTasks = tasks.running().stream()
                .filter(LiveCalls::isRunning)
                .map(task -> live(task, task.thread))
                .filter(live -> live.thread() != null); // it may have ended in between
        Stream<LiveCall> away = Set.copyOf(holders.away).stream().map(permit -> live(permit, null));
        return Stream.of(ofCallers, ofTasks, away).flatMap(each -> each);
    }

    private static boolean isRunning(Call call) {
        return call.isStarted() && call.holdsPermit();
    }

    private static LiveCall live(Call call, @Nullable Thread thread) {
        return new LiveCall(
                call, thread, call instanceof Task task && task.future().isDone(), context(call));
    }

    private static CapturedContext context(Call call) {
        return call instanceof Task task ? task.context() : CapturedContext.EMPTY;
    }
}
