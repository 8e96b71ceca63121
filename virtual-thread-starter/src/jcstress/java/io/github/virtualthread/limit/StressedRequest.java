package io.github.virtualthread.limit;

import io.github.virtualthread.timer.TaskTimer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Counts what it is told. */
final class StressedRequest extends PermitRequest {

    private static final TaskTimer TIMER = new TaskTimer("timer");

    private final TaskLimit limit;
    private final @Nullable KeyedPlace place;
    private final AtomicInteger granted = new AtomicInteger();

    StressedRequest(TaskLimit limit) {
        this(limit, null);
    }

    StressedRequest(TaskLimit limit, @Nullable String key) {
        this.limit = limit;
        this.place = key == null ? null : new KeyedPlace(key, null);
    }

    /** Limits that nobody listens to. */
    static TaskLimits limits(LimitSettings... settings) {
        return new TaskLimits(List.of(settings), TIMER, change -> {});
    }

    /** A limit that nobody listens to. */
    static SemaphoreLimit limit(int permits) {
        return new SemaphoreLimit(LimitSettings.of("db", permits), null, TIMER, change -> {});
    }

    /** A request that holds its permit. */
    static StressedRequest holding(TaskLimit limit) {
        return holding(limit, null);
    }

    static StressedRequest holding(TaskLimit limit, @Nullable String key) {
        StressedRequest request = new StressedRequest(limit, key);
        request.ask();
        return request;
    }

    /** Asks without a deadline. */
    LimitExceededException.@Nullable Reason ask() {
        return ask(Long.MAX_VALUE);
    }

    int timesGranted() {
        return granted.get();
    }

    @Override
    protected TaskLimit limit() {
        return limit;
    }

    @Override
    protected @Nullable KeyedPlace place() {
        return place;
    }

    @Override
    protected void granted() {
        granted.incrementAndGet();
    }

    @Override
    protected void onStartFailed(Throwable failure) {
        throw new IllegalStateException("Nothing fails when this is granted", failure);
    }

    @Override
    protected void reportRejected(LimitExceededException.@Nullable Reason reason) {
        throw new IllegalStateException("Nobody rejects this, but was " + reason);
    }

    @Override
    protected void reportSoon() {}
}
