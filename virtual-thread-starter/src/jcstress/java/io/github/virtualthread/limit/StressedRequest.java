package io.github.virtualthread.limit;

import java.util.concurrent.atomic.AtomicInteger;

/** Counts what it is told. */
final class StressedRequest extends PermitRequest {

    private static final TaskTimer TIMER = new TaskTimer("timer");

    private final TaskLimit limit;
    private final AtomicInteger granted = new AtomicInteger();

    StressedRequest(TaskLimit limit) {
        this.limit = limit;
    }

    /** A limit that nobody listens to. */
    static SemaphoreLimit limit(int permits) {
        return new SemaphoreLimit(LimitSettings.of("db", permits), null, TIMER, change -> {});
    }

    /** A request that holds its permit. */
    static StressedRequest holding(SemaphoreLimit limit) {
        StressedRequest request = new StressedRequest(limit);
        request.ask();
        return request;
    }

    int timesGranted() {
        return granted.get();
    }

    @Override
    protected TaskLimit limit() {
        return limit;
    }

    @Override
    protected void granted() {
        granted.incrementAndGet();
    }

    @Override
    protected void grantFailed(Throwable failure) {
        throw new IllegalStateException("Nothing fails when this is granted", failure);
    }

    @Override
    protected void tellGrantFailed() {}

    @Override
    protected void rejected(LimitExceededException.Reason reason) {
        throw new IllegalStateException("Nobody rejects this, but was " + reason);
    }
}
