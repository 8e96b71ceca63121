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
 * The only call of a key ends, which forgets the key, while the next call of the same key begins. Result: times granted, permits free,
 * calls waiting, keys known.
 */
@JCStressTest
@Outcome(id = "1, 1, 0, 1", expect = ACCEPTABLE, desc = "the call has the permit of its key")
@Outcome(id = "0, 2, 1, 1", expect = FORBIDDEN, desc = "lost wake-up: the call waits although its key runs nothing")
@Outcome(id = "1, 1, 0, 0", expect = FORBIDDEN, desc = "the key of a running call is forgotten")
@Outcome(id = "1, .*, 2", expect = FORBIDDEN, desc = "one key is known twice")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "a permit is lost, or was given back twice, or the queue has miscounted")
@State
public class KeyEndsAgainstFirstCall {

    private final TaskLimit limit = StressedRequest.limits(
                    LimitSettings.of("db", 2).withPermitsPerKey(1))
            .get("db");
    private final StressedRequest holder = StressedRequest.holding(limit, "acme");
    private final StressedRequest comer = new StressedRequest(limit, "acme");

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
        result.r2 = limit.available();
        result.r3 = limit.waiting();
        result.r4 = limit.keys();
    }
}
