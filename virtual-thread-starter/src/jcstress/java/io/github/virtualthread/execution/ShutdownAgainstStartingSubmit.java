package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.github.virtualthread.limit.LimitExceededException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * The engine stops while a call comes that starts at once and blocks. Result: what the caller sees, permits free, whether all
 * ended.
 *
 * <p>Has found: a body that finds the engine stopped does not report it: its caller gets no failure.
 */
@JCStressTest
@Outcome(id = "SHUTDOWN, 1, true", expect = ACCEPTABLE, desc = "refused before the body began")
@Outcome(id = "interrupted, 1, true", expect = ACCEPTABLE, desc = "the body had begun")
@Outcome(id = "open, .*", expect = FORBIDDEN, desc = "the future is never complete")
@Outcome(id = ".*, .*, false", expect = FORBIDDEN, desc = "the body runs on after the stop: nobody has interrupted it")
@Outcome(id = ".*, 0, .*", expect = FORBIDDEN, desc = "the permit is lost")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "the caller sees another end")
@State
public class ShutdownAgainstStartingSubmit {

    private final StressedEngine stressed = new StressedEngine();
    private final CountDownLatch never = new CountDownLatch(1);
    private volatile @Nullable CompletableFuture<@Nullable Object> future;
    private volatile boolean comes;

    @Actor
    public void stop() {
        StressedEngine.becomes(() -> comes);
        StressedEngine.spin(300);
        stressed.engine.stop(Duration.ZERO);
    }

    @Actor
    public void submit() {
        comes = true;
        StressedEngine.spin(30);
        future = stressed.submit(null, () -> {
            never.await();
            return "ran";
        });
    }

    @Arbiter
    public void look(LLL_Result result) {
        boolean ended = stressed.ends();
        CompletableFuture<@Nullable Object> submitted = future;
        result.r1 = submitted == null || !submitted.isDone()
                ? "open"
                : submitted.handle(ShutdownAgainstStartingSubmit::seen).join();
        result.r2 = stressed.limit().available();
        result.r3 = ended;
        never.countDown();
    }

    private static Object seen(@Nullable Object value, @Nullable Throwable failure) {
        return failure instanceof LimitExceededException refused
                ? refused.reason()
                : failure instanceof CancellationException ? "interrupted" : failure == null ? "ran" : failure;
    }
}
