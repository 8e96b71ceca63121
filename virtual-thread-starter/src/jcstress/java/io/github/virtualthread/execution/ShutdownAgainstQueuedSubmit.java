package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.github.virtualthread.limit.LimitExceededException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * The engine stops while a call comes that has to wait. Result: what the caller sees, calls waiting, whether all ended.
 *
 * <p>Has found: {@code submit} does not check the phase again: the call stays in a queue that was emptied before.
 */
@JCStressTest
@Outcome(id = "SHUTDOWN, 0, true", expect = ACCEPTABLE, desc = "refused at once, or put out of the queue")
@Outcome(id = "open, .*", expect = FORBIDDEN, desc = "the call waits for ever in a queue that was emptied before")
@Outcome(id = ".*, .*, false", expect = FORBIDDEN, desc = "the books of the engine are wrong: it never gets idle")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "the body ran without a permit, or the caller sees something else")
@State
public class ShutdownAgainstQueuedSubmit {

    private final StressedEngine stressed = new StressedEngine();
    private volatile @Nullable CompletableFuture<@Nullable Object> future;

    public ShutdownAgainstQueuedSubmit() {
        stressed.hold();
    }

    @Actor
    public void stop() {
        StressedEngine.spin(8);
        stressed.engine.stop(Duration.ZERO);
    }

    @Actor
    public void submit() {
        StressedEngine.spin(8);
        future = stressed.submit(null, () -> "ran");
    }

    @Arbiter
    public void look(LLL_Result result) {
        boolean ended = stressed.ends();
        CompletableFuture<@Nullable Object> submitted = future;
        result.r1 = submitted == null || !submitted.isDone()
                ? "open"
                : submitted.handle(ShutdownAgainstQueuedSubmit::seen).join();
        result.r2 = stressed.limit().waiting();
        result.r3 = ended;
    }

    private static Object seen(@Nullable Object value, @Nullable Throwable failure) {
        return failure == null
                ? String.valueOf(value)
                : failure instanceof LimitExceededException refused ? refused.reason() : failure;
    }
}
