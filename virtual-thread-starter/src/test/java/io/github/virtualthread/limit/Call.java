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
    private final @Nullable KeyedPlace place;
    boolean told;
    boolean hasLetGo;

    Call(@Nullable TaskLimit limit) {
        this(limit, null, null);
    }

    /** A call with a key, or of a thread that holds a permit of a limit around. */
    Call(@Nullable TaskLimit limit, @Nullable String key, @Nullable TaskLimit held) {
        this.limit = limit;
        this.place = key == null && held == null ? null : new KeyedPlace(key, held);
    }

    /** Asks for a permit with a key, and expects no refusal at once. */
    static Call asked(TaskLimit limit, @Nullable String key) {
        return asked(new Call(limit, key, null));
    }

    /** Asks without a deadline. */
    @Nullable
    Reason ask() {
        return ask(Long.MAX_VALUE);
    }

    private static Call asked(Call call) {
        Reason refused = call.ask();
        if (refused != null) {
            throw new AssertionError("refused: " + refused);
        }
        return call;
    }

    /** Asks the limit and expects no refusal at once. */
    static Call asked(TaskLimit limit) {
        return asked(new Call(limit));
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
    protected @Nullable KeyedPlace place() {
        return place;
    }

    @Override
    protected void granted() {
        granted.complete(this);
    }

    @Override
    protected void onStartFailed(Throwable failure) {
        this.failure = failure;
    }

    @Override
    protected void onRejected(Reason reason) {
        hasLetGo = true;
    }

    @Override
    protected void reportRejected(@Nullable Reason reason) {
        if (reason == null) {
            failed.complete(failure);
        } else {
            rejected.complete(reason);
        }
    }

    @Override
    protected void reportSoon() {
        reportRejected(null);
    }

    @Override
    protected void waitsNested() {
        told = true;
    }

    boolean holds() {
        return granted.isDone();
    }
}
