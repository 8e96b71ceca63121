package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The calls of one web request, which end when nobody waits for it. It travels with the {@link Deadline} of a thread: whoever inherits
 * that belongs to the scope, and when the scope ends, the deadline has passed.
 *
 * <p>Thread-safe. No method here blocks.
 */
@Internal
public final class CallScope {

    /** Those that wait or run, and what ends them. A web request makes few at a time. */
    private final Map<Object, Consumer<Object>> calls = new ConcurrentHashMap<>(1);

    private final AtomicReference<@Nullable End> end = new AtomicReference<>();

    /** Creates a scope without calls. */
    public CallScope() {}

    /**
     * Why nobody waits any more.
     *
     * @param length time that the request had; null if its client has gone
     */
    private record End(Reason reason, @Nullable Duration length) {}

    /**
     * Returns the deadline of what begins now on the current thread, for {@link Calls#callBy}: its calls belong to this scope.
     *
     * @param length time that it has of its own, more than zero, null for any time
     * @return the earlier of its own and that of the thread
     */
    public Deadline deadline(@Nullable Duration length) {
        Deadline own = ScopedDeadline.of(this, length, Deadline.after(length));
        return Objects.requireNonNull(Deadline.earlier(own, Deadline.current()));
    }

    /**
     * The client has gone: calls that wait are rejected, bodies that run are interrupted, and calls made later are rejected. Only
     * the first end counts.
     */
    public void clientGone() {
        clientsGone(List.of(this));
    }

    /**
     * As {@link #clientGone} for several clients: a permit that comes back from a call of one does not go to a call of another.
     *
     * @param scopes of the clients
     */
    public static void clientsGone(List<CallScope> scopes) {
        end(scopes, new End(Reason.CLIENT_GONE, null));
    }

    /**
     * The client has got its answer, because the request took too long: as {@link #clientGone}, with the words for a deadline.
     *
     * @param length time that the request had
     */
    public void timedOut(Duration length) {
        end(List.of(this), new End(Reason.DEADLINE, length));
    }

    /**
     * Whether the client had gone before the request ended otherwise.
     *
     * @return whether {@link #clientGone} came first
     */
    public boolean isClientGone() {
        return reason() == Reason.CLIENT_GONE;
    }

    /** All know of their end before the first call ends; and before the look at the calls, as those that come later look back. */
    private static void end(List<CallScope> scopes, End why) {
        List<CallScope> ended = scopes.stream()
                .filter(scope -> scope.end.compareAndSet(null, why))
                .toList();
        ended.forEach(scope -> scope.calls.forEach(CallScope::endOne));
    }

    private static void endOne(Object call, Consumer<Object> ender) {
        try {
            ender.accept(call);
        } catch (OutOfMemoryError shortage) {
            // it goes on; all others end
        }
    }

    /** Why it has ended, null if it has not. */
    @Nullable
    Reason reason() {
        End why = end.get();
        return why == null ? null : why.reason;
    }

    /** The time that the request had, if it took too long. */
    @Nullable
    Duration length() {
        End why = end.get();
        return why == null ? null : why.length;
    }

    /**
     * Adds a call, before it looks whether this has ended.
     *
     * @param ender ends its wait or its run, unless it has ended by then; must not block. The same for all calls of a kind
     */
    @SuppressWarnings("unchecked") // each gets the call that it came with
    <T> void add(T call, Consumer<T> ender) {
        calls.put(call, (Consumer<Object>) ender);
    }

    void remove(Object call) {
        calls.remove(call);
    }

    /** Whether no call of this scope waits or runs. */
    boolean isEmpty() {
        return calls.isEmpty();
    }
}
