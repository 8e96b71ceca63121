package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * Somebody forces an interrupt at about the end of a part that is shielded. Result:
 * whether it was forced, whether an interrupt is owed, whether the thread was interrupted during the part, and after it.
 *
 * <p>Has found: the end of the part does not wait for an interrupt that is being forced: it comes after the part.
 */
@JCStressTest
@Outcome(id = "true, true, .*, false", expect = ACCEPTABLE, desc = "forced during the part")
@Outcome(id = "false, true, false, false", expect = ACCEPTABLE, desc = "too late")
@Outcome(id = ".*, true", expect = FORBIDDEN, desc = "an interrupt after the part, or something is left of the body")
@Outcome(id = ".*, false, .*, .*", expect = FORBIDDEN, desc = "the interrupt is not owed")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "forced without an interrupt, or interrupted and not forced")
@State
public class ForceAgainstUnshield {

    private final StressedBody body = new StressedBody();
    private volatile boolean stopped;
    private volatile boolean forced;

    @Actor
    public void body(LLLL_Result result) {
        body.open();
        body.shield();
        body.stop();
        stopped = true;
        StressedEngine.spin(1000);
        result.r2 = body.unshield();
        result.r3 = Thread.interrupted();
        StressedEngine.becomes(() -> forced);
        result.r4 = Thread.interrupted() || body.leaves();
    }

    @Actor
    public void force(LLLL_Result result) {
        StressedEngine.becomes(() -> stopped);
        result.r1 = body.force();
        forced = true;
    }
}
