package io.github.virtualthread.execution;

import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The time by which the current thread should be done, waiting and running together.
 *
 * <p>The body of a call with a deadline runs under it. Calls that the body makes have what is left of it, or their own deadline if
 * that is earlier. Calls without a result, which are {@code void} methods and {@code execute}, do not inherit it.
 *
 * <p>Deadlines are measured by {@link System#nanoTime()}. No method here waits or interrupts a thread.
 */
public sealed class Deadline permits ScopedDeadline {

    /** The least that {@link #atMost} returns: many clients count in milliseconds, and read 0 as no limit. */
    private static final Duration SHORTEST_TIMEOUT = Duration.ofMillis(1);

    /** Later than all others, but not so far that their difference overflows. */
    private static final long LONGEST_NANOS = Long.MAX_VALUE / 2;

    private static final ThreadLocal<@Nullable Deadline> CURRENT = new ThreadLocal<>();

    /** Whether any thread has had one: to read a thread-local gives each thread that asks a map. */
    private static volatile boolean used;

    private final @Nullable Duration length; // null for any time, which there is only within a scope
    private final long at; // by System.nanoTime()

    Deadline(@Nullable Duration length, long at) {
        this.length = length;
        this.at = at;
    }

    private static Deadline of(Duration length) {
        return new Deadline(length, after(length));
    }

    /** When a time that begins now is over, null for any time. */
    static long after(@Nullable Duration length) {
        long nanos = length == null ? LONGEST_NANOS : TimeUnit.NANOSECONDS.convert(length);
        return System.nanoTime() + Math.min(nanos, LONGEST_NANOS);
    }

    /**
     * Returns how much time the current thread has left.
     *
     * @return zero if the deadline has passed, empty if there is none
     */
    public static Optional<Duration> remaining() {
        Deadline current = current();
        long left = current == null ? Long.MAX_VALUE : current.left();
        return left == Long.MAX_VALUE ? Optional.empty() : Optional.of(Duration.ofNanos(Math.max(0, left)));
    }

    /**
     * Returns a timeout for a client: the time that the current thread has left, but not more than the given maximum.
     *
     * @param maximum more than zero
     * @return {@code maximum} if there is no deadline; at least 1 ms, because for most clients zero means no timeout
     * @throws IllegalArgumentException if {@code maximum} is zero or negative
     */
    public static Duration atMost(Duration maximum) {
        requirePositive("the maximum", maximum);
        Duration left = remaining().orElse(maximum);
        Duration shorter = left.compareTo(maximum) < 0 ? left : maximum;
        return shorter.compareTo(SHORTEST_TIMEOUT) < 0 ? SHORTEST_TIMEOUT : shorter;
    }

    /**
     * Runs a task on the current thread with a deadline, or with that of the thread if it is earlier. The task runs even if that
     * has passed, and is not interrupted when the deadline passes.
     *
     * @param length time from now on, more than zero
     * @param task what to run
     * @param <T> type of its value
     * @return value of the task
     * @throws IllegalArgumentException if {@code length} is zero or negative
     * @throws Exception any exception of the task
     */
    public static <T extends @Nullable Object> T call(Duration length, Callable<T> task) throws Exception {
        requirePositive("a deadline", length);
        return callBy(earliest(length, current()), task);
    }

    /**
     * Runs a task on the current thread without its deadline: for work that must be done even if the time is over.
     *
     * @param task what to run
     * @param <T> type of its value
     * @return value of the task
     * @throws Exception any exception of the task
     */
    public static <T extends @Nullable Object> T callWithout(Callable<T> task) throws Exception {
        return callBy(null, task);
    }

    static <T extends @Nullable Object> T callBy(@Nullable Deadline deadline, Callable<T> task) throws Exception {
        Deadline before = open(deadline);
        try {
            return task.call();
        } finally {
            Deadline unused = open(before);
        }
    }

    static void requirePositive(String what, @Nullable Duration length) {
        if (length != null && !length.isPositive()) {
            throw new IllegalArgumentException(
                    "%s must be longer than zero, was %s".formatted(what, Durations.text(length)));
        }
    }

    /** The deadline of the current thread, null for none. */
    static @Nullable Deadline current() {
        return used ? CURRENT.get() : null;
    }

    /** Runs a body with this deadline, which is the earliest of those that there are. */
    @Nullable
    Object run(TaskBody body) throws Throwable {
        Deadline before = open(this);
        try {
            return body.run();
        } finally {
            Deadline unused = open(before);
        }
    }

    /** Sets the deadline of the current thread, null for none; returns the one before. */
    static @Nullable Deadline open(@Nullable Deadline deadline) {
        Deadline before = current();
        if (deadline != null) {
            if (!used) { // all calls read it: a write takes it from the caches of their cores
                used = true;
            }
            CURRENT.set(deadline);
        } else if (before != null) {
            CURRENT.remove();
        }
        return before;
    }

    /**
     * The deadline of a call that begins now.
     *
     * @param own time that the call has of its own, null for none
     * @param inherited deadline of its caller, null for none
     */
    static @Nullable Deadline earliest(@Nullable Duration own, @Nullable Deadline inherited) {
        return own == null ? inherited : earlier(of(own), inherited);
    }

    /** The earlier of two deadlines, either of which may be absent, in the scope of either. */
    static @Nullable Deadline earlier(@Nullable Deadline one, @Nullable Deadline other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return one.at - other.at < 0 ? one.inScopeOf(other) : other.inScopeOf(one);
    }

    private Deadline inScopeOf(Deadline later) {
        CallScope scope = scope() == null ? later.scope() : null;
        return scope == null ? this : ScopedDeadline.of(scope, length, at);
    }

    /** One that passes when half of what is left now has passed; the same if that is any time. */
    Deadline half() {
        long left = left();
        if (left == Long.MAX_VALUE) {
            return this;
        }
        Duration half = Duration.ofNanos(left / 2);
        CallScope scope = scope();
        return scope == null ? of(half) : ScopedDeadline.of(scope, half, after(half));
    }

    /** Nanoseconds until it passes; zero or negative afterwards. The maximum value for any time. */
    long left() {
        return length == null ? Long.MAX_VALUE : at - System.nanoTime();
    }

    /** Whether it has passed. */
    boolean isOver() {
        return left() <= 0;
    }

    /** The time that it gave when it began, null for any time. */
    @Nullable
    Duration length() {
        return length;
    }

    /** The scope whose end ends it, too; null for none. */
    @Nullable
    CallScope scope() {
        return null;
    }

    /**
     * Why calls are rejected once it has passed.
     *
     * @param byClock the reason where no scope has ended
     */
    Reason reason(Reason byClock) {
        return byClock;
    }
}
