package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A deadline that also passes when a scope of calls ends. */
final class ScopedDeadline extends Deadline {

    private final CallScope scope;

    private ScopedDeadline(CallScope scope, @Nullable Duration length, long at) {
        super(length, at);
        this.scope = scope;
    }

    /**
     * Creates a deadline.
     *
     * @param length the time that it gives, null for any time
     * @param at when that is over, by {@link System#nanoTime}
     */
    static Deadline of(CallScope scope, @Nullable Duration length, long at) {
        return new ScopedDeadline(scope, length, at);
    }

    @Override
    CallScope scope() {
        return scope;
    }

    @Override
    long left() {
        return scope.reason() == null ? super.left() : 0;
    }

    @Override
    @Nullable
    Duration length() {
        Duration ofScope = scope.length();
        return ofScope == null ? super.length() : ofScope;
    }

    @Override
    Reason reason(Reason byClock) {
        Reason ofScope = scope.reason();
        return ofScope == null ? byClock : ofScope;
    }
}
