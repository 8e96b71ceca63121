package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * A body is stopped twice at about the end of a part that is shielded. Result: how often the shield is told, whether an interrupt is
 * owed to the thread, whether it is interrupted afterwards.
 *
 * <p>Has found: the end of the part does not wait for a stop that is being told: it is told of a later part, and not owed.
 */
@JCStressTest
@Outcome(id = "1, true, false", expect = ACCEPTABLE, desc = "both came during the part")
@Outcome(id = "1, true, true", expect = ACCEPTABLE, desc = "one came during the part, and one after it")
@Outcome(id = "0, false, true", expect = ACCEPTABLE, desc = "both came after the part")
@Outcome(id = "0, true, .*", expect = ACCEPTABLE, desc = "and one before the body looked at its flag")
@Outcome(id = "2, .*", expect = FORBIDDEN, desc = "the shield was told twice")
@Outcome(id = "1, false, .*", expect = FORBIDDEN, desc = "the interrupt is not owed")
@Outcome(id = "0, false, false", expect = FORBIDDEN, desc = "the stop is lost")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "told after the part, or an interrupt is owed that nobody asked for")
@State
public class StopAgainstUnshield {

    private final StressedBody body = new StressedBody();
    private volatile boolean runs;
    private volatile boolean stopped;

    @Actor
    public void body(LLL_Result result) {
        body.open();
        body.shield();
        runs = true;
        StressedEngine.spin(1000);
        result.r2 = body.unshield();
        int told = body.told();
        StressedEngine.becomes(() -> stopped);
        result.r1 = told == body.told() ? told : "told after the part";
        result.r3 = Thread.interrupted();
        if (body.leaves()) {
            result.r3 = "something is left";
        }
    }

    @Actor
    public void stopTwice() {
        StressedEngine.becomes(() -> runs);
        body.stop();
        body.stop();
        stopped = true;
    }
}
