package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * A body is stopped after a part that goes on after its end, or at about that, or at the begin of the next part. Result: whether the
 * thread is interrupted where it must not be, what the body knows at the begin of the next part, whether the thread is interrupted then,
 * whether an interrupt is owed to it after that.
 *
 * <p>Has found: the next part begins while an interrupt is held back, and nobody delivers it.
 */
@JCStressTest
@Outcome(id = "false, STOPPED, true, false", expect = ACCEPTABLE, desc = "the stop came before the next part")
@Outcome(id = "false, RUNNING, false, true", expect = ACCEPTABLE, desc = "it came during the next part")
@Outcome(id = "true, .*", expect = FORBIDDEN, desc = "interrupted where it must not be")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "the stop is lost, or comes twice")
@State
public class StopAgainstHold {

    private final StressedBody body = new StressedBody();
    private volatile boolean runs;
    private volatile boolean stopped;

    @Actor
    public void body(LLLL_Result result) {
        body.open();
        body.shield();
        runs = true;
        body.unshieldAndGoOn();
        StressedEngine.spin(200);
        result.r1 = Thread.currentThread().isInterrupted();
        result.r2 = body.shield();
        StressedEngine.becomes(() -> stopped);
        result.r3 = Thread.interrupted();
        result.r4 = body.unshield();
        if (body.leaves()) {
            result.r4 = "something is left";
        }
    }

    @Actor
    public void stop() {
        StressedEngine.becomes(() -> runs);
        body.stop();
        stopped = true;
    }
}
