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
 * A permit comes back to a call that waits, while another comes. Result: times the first was granted, times the second was,
 * calls waiting.
 *
 * <p>Has found: a call that ends takes the first call from the queue without the lock: a waiting call is lost.
 */
@JCStressTest
@Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "the first has the permit, the second waits")
@Outcome(id = "0, 1, 1", expect = FORBIDDEN, desc = "overtaken: the second took the permit past the first")
@Outcome(id = "1, 1, 0", expect = FORBIDDEN, desc = "two calls run under a limit of one")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "a call or a permit is lost")
@State
public class LateComerAgainstRelease {

    private final SemaphoreLimit limit = StressedRequest.limit(1);
    private final StressedRequest holder = StressedRequest.holding(limit);
    private final StressedRequest first = new StressedRequest(limit);
    private final StressedRequest second = new StressedRequest(limit);

    public LateComerAgainstRelease() {
        first.ask();
    }

    @Actor
    public void release() {
        holder.giveBack();
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
