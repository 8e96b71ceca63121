package io.github.virtualthread.limit;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;

/**
 * The only permit of a limit without a queue comes back while a call is refused. Result: times granted, whether the limit is
 * full, whether it is full when its permit is taken, and when one more is refused then.
 *
 * <p>Has found: taking a free permit keeps the time from which the limit was full: it looks full from long ago.
 */
@JCStressTest
@Outcome(id = "[01], 0, 0, 1", expect = ACCEPTABLE, desc = "a permit was free")
@Outcome(id = ".*, 1, .*, .*", expect = FORBIDDEN, desc = "full although nobody was refused since")
@Outcome(id = ".*, .*, 1, .*", expect = FORBIDDEN, desc = "full from a time on before which a permit was free")
@Outcome(id = ".*, .*, .*, 0", expect = FORBIDDEN, desc = "not full although a call was refused")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "granted twice")
@State
public class RefusalAgainstRelease {

    private final SemaphoreLimit limit = StressedRequest.limit(1);
    private final StressedRequest holder = StressedRequest.holding(limit);
    private final StressedRequest comer = new StressedRequest(limit);

    {
        limit.setQueueCapacity(0);
    }

    @Actor
    public void release() {
        holder.giveBack();
    }

    @Actor
    public void submit() {
        comer.ask();
    }

    @Arbiter
    public void look(IIII_Result result) {
        result.r1 = comer.timesGranted();
        result.r2 = full();
        comer.giveBack();
        new StressedRequest(limit).ask();
        result.r3 = full();
        new StressedRequest(limit).ask();
        result.r4 = full();
    }

    private int full() {
        return limit.saturated().isPositive() ? 1 : 0;
    }
}
