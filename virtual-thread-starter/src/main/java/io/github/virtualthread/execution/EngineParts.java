package io.github.virtualthread.execution;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;

/**
 * What all calls of one engine share.
 *
 * @param gate whether calls are accepted
 * @param propagation what tasks see of their callers
 * @param decorators put around the body of every task
 * @param threads makes and names the threads of tasks
 * @param timer ends runs, and hands over what may block
 * @param live the tasks that have not ended
 * @param holders the threads that hold permits
 * @param listeners notified of what happens to every call
 * @param rejections writes rejected calls to the log
 * @param callerTrace whether a failure also shows where its call was made
 * @param bounds ends tasks that take too long
 * @param platformWait how long a platform thread waits for a permit of a limit without a maximum wait: nobody should hold up
 *     a thread of a pool forever
 */
record EngineParts(
        Gate gate,
        ContextPropagation propagation,
        TaskDecorators decorators,
        TaskThreads threads,
        TaskTimer timer,
        LiveTasks live,
        PermitHolders holders,
        TaskListeners listeners,
        Rejections rejections,
        boolean callerTrace,
        TimeBounds bounds,
        Duration platformWait) {

    /** How long a platform thread of an application waits for a permit if the limit has no maximum wait. */
    static final Duration PLATFORM_WAIT = Duration.ofSeconds(30);

    /** Those of the engine of an application. */
    static EngineParts of(
            ContextPropagation propagation,
            TaskTimer timer,
            TaskThreads threads,
            CallExtensions extensions,
            boolean callerTrace) {
        Rejections rejections = new Rejections(timer, Duration.ofMinutes(1));
        return new EngineParts(
                new Gate(),
                propagation,
                new TaskDecorators(new LazyBeans<>("Task decorators", extensions.decorators())),
                threads,
                timer,
                new LiveTasks(),
                new PermitHolders(),
                new TaskListeners(new LazyBeans<>("Task listeners", extensions.listeners())),
                rejections,
                callerTrace,
                new TimeBounds(timer, threads, rejections, TimeBounds.GRACE),
                PLATFORM_WAIT);
    }
}
