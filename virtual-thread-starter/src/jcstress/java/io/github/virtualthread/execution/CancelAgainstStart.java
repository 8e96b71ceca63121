package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * A waiting call gets its permit while it is cancelled with an interrupt. Result: what became of the body, whether the future
 * is cancelled, permits free.
 *
 * <p>Has found: {@code cancel} does not check the body again after it has completed the future: the body runs on.
 */
@JCStressTest
@Outcome(id = "never ran, true, 1", expect = ACCEPTABLE, desc = "the cancel came first")
@Outcome(id = "interrupted, true, 1", expect = ACCEPTABLE, desc = "the start came first")
@Outcome(id = "missed, .*, .*", expect = FORBIDDEN, desc = "the body runs on: the interrupt is lost")
@Outcome(id = ".*, false, .*", expect = FORBIDDEN, desc = "the caller does not see the cancel")
@Outcome(id = ".*, .*, 0", expect = FORBIDDEN, desc = "the permit is lost")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "the permit was given back twice")
@State
public class CancelAgainstStart implements TaskListener {

    private final StressedEngine stressed = new StressedEngine(this);
    private final StressedEngine.Holder holder = stressed.hold();
    private final CountDownLatch never = new CountDownLatch(1);
    private final CompletableFuture<@Nullable Object> future = stressed.submit(null, this::block);
    private volatile boolean starts;
    private volatile String body = "never ran";

    private @Nullable Object block() throws InterruptedException {
        body = "missed";
        try {
            never.await();
        } catch (InterruptedException expected) {
            body = "interrupted";
        }
        return null;
    }

    @Override
    public void started(TaskCall call) {
        starts = true;
    }

    @Actor
    public void release() {
        holder.release();
    }

    @Actor
    public void cancel() {
        // mostly just when the body begins: else the cancel would nearly always come first
        if (ThreadLocalRandom.current().nextInt(4) > 0) {
            StressedEngine.becomes(() -> starts);
        }
        StressedEngine.spin(30);
        future.cancel(true);
    }

    @Arbiter
    public void look(LLL_Result result) {
        if (!stressed.ends()) {
            result.r1 = body;
            never.countDown();
            stressed.ends();
        } else {
            result.r1 = body;
        }
        result.r2 = future.isCancelled();
        result.r3 = stressed.limit().available();
    }
}
