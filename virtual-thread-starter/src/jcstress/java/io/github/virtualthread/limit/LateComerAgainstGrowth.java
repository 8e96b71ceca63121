package io.github.virtualthread.limit;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * A full limit gets a second permit for a call that waits, while another comes. Result: times the first was granted, times the
 * second was, calls waiting.
 *
 * <p>Has found: a permit is taken without a check of the queue: the waiting call is overtaken.
 */
@JCStressTest
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "the first has the permit, the second waits")
@Outcome(id = "0, 1, 1", expect = FORBIDDEN, desc = "overtaken: the second took the permit past the first")
@Outcome(id = "1, 1, 0", expect = FORBIDDEN, desc = "three calls run under a limit of two")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "a call or a permit is lost")
@State
public class LateComerAgainstGrowth {

    private final SemaphoreLimit limit = StressedRequest.limit(1);
    private final StressedRequest first = new StressedRequest(limit);
    private final StressedRequest second = new StressedRequest(limit);

    public LateComerAgainstGrowth() {
        StressedRequest.holding(limit);
        first.ask();
    }

    @Actor
    public void resize() {
        limit.resize(2);
    }

    @Actor
    public void submit() {
        second.ask();
    }

    @Arbiter
    public void look(III_Result result) {
        result.r1 = first.timesGranted();
        result.r2 = second.timesGranted();
        result.r3 = limit.waiting();
    }
}
