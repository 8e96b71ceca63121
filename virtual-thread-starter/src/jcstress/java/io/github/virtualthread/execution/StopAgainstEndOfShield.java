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
 * A body is stopped when it ends, right after a part that is shielded. Result: whether there was anything to stop, how often the
 * shield is told, whether an interrupt is owed, and whether flag or shield are left after the body.
 *
 * <p>Has found: the window closes without waiting for an interrupt on its way: it reaches what comes after the body.
 */
@JCStressTest
@Outcome(id = "true, 1, true, false", expect = ACCEPTABLE, desc = "during the part")
@Outcome(id = "true, 0, .*, false", expect = ACCEPTABLE, desc = "after the part, before the end")
@Outcome(id = "false, 0, false, false", expect = ACCEPTABLE, desc = "after the end")
@Outcome(
        id = ".*, true",
        expect = FORBIDDEN,
        desc = "the interrupt reached what comes after the body, or the shield is known for good")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "the stop is lost, told twice, or not as it was")
@State
public class StopAgainstEndOfShield {

    private final StressedBody body = new StressedBody();
    private volatile boolean runs;
    private volatile boolean stopped;

    @Actor
    public void body(LLLL_Result result) {
        body.open();
        body.shield();
        runs = true;
        StressedEngine.spin(500);
        result.r3 = body.unshield();
        StressedEngine.spin(500);
        boolean left = body.leaves();
        StressedEngine.becomes(() -> stopped);
        result.r4 = body.leaves() || left || Thread.interrupted();
    }

    @Actor
    public void stop(LLLL_Result result) {
        StressedEngine.becomes(() -> runs);
        result.r1 = body.stop();
        stopped = true;
    }

    @Arbiter
    public void look(LLLL_Result result) {
        result.r2 = body.told();
    }
}
