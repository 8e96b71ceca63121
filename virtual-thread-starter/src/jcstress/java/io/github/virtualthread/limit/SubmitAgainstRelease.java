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
 * The only permit comes back while the first call begins to wait. Result: times granted, permits free, calls waiting.
 *
 * <p>Has found: a call that joins the queue does not check the permits again: it waits forever beside a free permit.
 */
@JCStressTest
@Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "the call has the permit")
@Outcome(id = "0, 1, 1", expect = FORBIDDEN, desc = "lost wake-up: the call waits although a permit is free")
@Outcome(id = "0, 0, .*", expect = FORBIDDEN, desc = "lost permit: nobody has it")
@Outcome(id = "1, 1, 0", expect = FORBIDDEN, desc = "the permit was given back twice")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "granted twice, or the queue has miscounted")
@State
public class SubmitAgainstRelease {

    private final SemaphoreLimit limit = StressedRequest.limit(1);
    private final StressedRequest holder = StressedRequest.holding(limit);
    private final StressedRequest comer = new StressedRequest(limit);

    @Actor
    public void release() {
        holder.giveBack();
    }

    @Actor
    public void submit() {
        comer.ask();
    }

    @Arbiter
    public void look(III_Result result) {
        result.r1 = comer.timesGranted();
        result.r2 = limit.available();
        result.r3 = limit.waiting();
    }
}
