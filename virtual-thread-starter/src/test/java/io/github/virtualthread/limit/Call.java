package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** A request that tells how it ended. */
class Call extends PermitRequest {

    final CompletableFuture<Call> granted = new CompletableFuture<>();
    final CompletableFuture<Reason> rejected = new CompletableFuture<>();
    final CompletableFuture<Throwable> failed = new CompletableFuture<>();
    private @Nullable Throwable failure;

    private final @Nullable TaskLimit limit;
    boolean told;
    boolean hasLetGo;

    Call(@Nullable TaskLimit limit) {
        this.limit = limit;
    }

    /** Asks the limit and expects no refusal at once. */
    static Call asked(TaskLimit limit) {
        Call call = new Call(limit);
        Reason refused = call.ask();
        if (refused != null) {
            throw new AssertionError("refused: " + refused);
        }
        return call;
    }

    static List<Call> asked(TaskLimit limit, int number) {
        List<Call> calls = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            calls.add(asked(limit));
        }
        return calls;
    }

    /** A call whose thread cannot be started. */
    static Call withoutThread(@Nullable TaskLimit limit) {
        return new Call(limit) {
            @Override
            protected void granted() {
                throw new OutOfMemoryError("unable to create native thread");
            }
        };
    }

    @Override
    protected @Nullable TaskLimit limit() {
        return limit;
    }

    @Override
    protected void granted() {
        granted.complete(this);
    }

    @Override
    protected void grantFailed(Throwable failure) {
        this.failure = failure;
    }

    @Override
    protected void tellGrantFailed() {
        failed.complete(failure);
    }

    @Override
    protected void rejecting() {
        hasLetGo = true;
    }

    @Override
    protected void rejected(Reason reason) {
        rejected.complete(reason);
    }

    @Override
    protected void waitsNested() {
        told = true;
    }

    boolean holds() {
        return granted.isDone();
    }
}
