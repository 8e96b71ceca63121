package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * Somebody forces an interrupt as soon as the shield has been told of the stop, which goes on meanwhile. Result: whether it was forced,
 * whether the thread was interrupted during the part, whether an interrupt is owed.
 *
 * <p>Has found: an interrupt is not forced while the stop is being told: the part goes on.
 */
@JCStressTest
@Outcome(id = "true, true, true", expect = ACCEPTABLE, desc = "forced")
@Outcome(id = "false, .*", expect = FORBIDDEN, desc = "the interrupt is lost, and the part goes on")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "forced, but not interrupted or not owed")
@State
public class ForceAgainstStop {

    private final StressedBody body = new StressedBody();
    private volatile boolean over;

    @Actor
    public void body(LLL_Result result) {
        body.open();
        body.shield();
        body.stop();
        StressedEngine.becomes(() -> over);
        result.r2 = Thread.interrupted();
        result.r3 = body.unshield();
        if (body.leaves()) {
            result.r3 = "something is left";
        }
    }

    @Actor
    public void force(LLL_Result result) {
        StressedEngine.becomes(() -> body.told() > 0);
        result.r1 = body.force();
        over = true;
    }
}
