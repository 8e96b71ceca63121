package io.github.virtualthread.limit;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * A limit without a queue was full, and has a free permit that two calls want. Result: calls that got it, whether the limit is
 * full.
 *
 * <p>Has found: the time from which the limit was full is cleared outside the lock: a rejection is lost, and a full limit does
 * not look full.
 */
@JCStressTest
@Outcome(
        id = "1, 1",
        expect = ACCEPTABLE,
        desc = "one has the permit, and the limit has been full since the other was refused")
@Outcome(id = "1, 0", expect = FORBIDDEN, desc = "the refusal is lost with the time of what is over")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "nobody has the permit, or both")
@State
public class RefusalAgainstAcquire {

    private final SemaphoreLimit limit = StressedRequest.limit(1);
    private final StressedRequest first = new StressedRequest(limit);
    private final StressedRequest second = new StressedRequest(limit);

    {
        limit.setQueueCapacity(0);
        StressedRequest holder = StressedRequest.holding(limit);
        new StressedRequest(limit).ask();
        holder.giveBack();
    }

    @Actor
    public void takeOne() {
        first.ask();
    }

    @Actor
    public void takeOther() {
        second.ask();
    }

    @Arbiter
    public void look(II_Result result) {
        result.r1 = first.timesGranted() + second.timesGranted();
        result.r2 = limit.saturated().isPositive() ? 1 : 0;
    }
}
