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
 * A full limit gets a second permit while a call asks for one. Result: times granted, permits free, calls waiting.
 *
 * <p>Has found: {@code resize} serves the queue only if somebody waited before it.
 */
@JCStressTest
@Outcome(id = "1, 0, 0", expect = ACCEPTABLE, desc = "the call has the new permit")
@Outcome(id = "0, 1, 1", expect = FORBIDDEN, desc = "lost wake-up: the call waits although the new permit is free")
@Outcome(id = "0, 0, .*", expect = FORBIDDEN, desc = "the new permit is lost")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "a permit too many, or the queue has miscounted")
@State
public class GrowthAgainstAcquire {

    private final SemaphoreLimit limit = StressedRequest.limit(1);
    private final StressedRequest comer = new StressedRequest(limit);

    public GrowthAgainstAcquire() {
        StressedRequest.holding(limit);
    }

    @Actor
    public void resize() {
        limit.resize(2);
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
