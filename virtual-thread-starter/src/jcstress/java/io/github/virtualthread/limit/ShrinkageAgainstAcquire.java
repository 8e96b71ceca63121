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
 * A limit of two loses a permit while two calls take both. Result: calls that ran at once, calls that ran in the end, permits
 * free after both.
 *
 * <p>Has found: {@code resize} checks the free permits first and takes them afterwards: the change is lost.
 */
@JCStressTest
@Outcome(id = "2, 2, 1", expect = ACCEPTABLE, desc = "both were there before the change")
@Outcome(id = "1, 2, 1", expect = ACCEPTABLE, desc = "the second waited for the first")
@Outcome(id = ".*, .*, 2", expect = FORBIDDEN, desc = "the change is lost: two may run at once")
@Outcome(id = ".*, .*, 0", expect = FORBIDDEN, desc = "a permit too many is gone: nothing runs any more")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "a call was lost, or granted twice")
@State
public class ShrinkageAgainstAcquire {

    private final SemaphoreLimit limit = StressedRequest.limit(2);
    private final StressedRequest first = new StressedRequest(limit);
    private final StressedRequest second = new StressedRequest(limit);

    @Actor
    public void resize() {
        limit.resize(1);
    }

    @Actor
    public void submit() {
        first.ask();
        second.ask();
    }

    @Arbiter
    public void look(III_Result result) {
        result.r1 = first.timesGranted() + second.timesGranted();
        first.giveBack();
        result.r2 = first.timesGranted() + second.timesGranted();
        second.giveBack();
        result.r3 = limit.available();
    }
}
