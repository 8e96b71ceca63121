package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * A body is stopped while it shields a part. Result: what the body knows at the begin of the part, how often the shield is told,
 * whether the thread is interrupted, whether an interrupt is owed to it.
 *
 * <p>Has found: a part is shielded without looking whether a stop came in between: its interrupt reaches the part.
 */
@JCStressTest
@Outcome(id = "STOPPED, 0, true, false", expect = ACCEPTABLE, desc = "the stop came first")
@Outcome(id = "RUNNING, 1, false, true", expect = ACCEPTABLE, desc = "the shield came first")
@Outcome(id = "RUNNING, 1, true, .*", expect = FORBIDDEN, desc = "what is shielded was interrupted")
@Outcome(id = ".*, 0, false, false", expect = FORBIDDEN, desc = "the stop is lost")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "the stop was told twice, or not as it was")
@State
public class StopAgainstShield {

    private final StressedBody body = new StressedBody();
    private volatile boolean runs;
    private volatile boolean stopped;

    @Actor
    public void body(LLLL_Result result) {
        body.open();
        runs = true;
        StressedEngine.spin(200);
        result.r1 = body.shield();
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

    @Arbiter
    public void look(LLLL_Result result) {
        result.r2 = body.told();
    }
}
