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
 * A call under two limits ends and another one asks for both, while a third asks for the only permit of the outer limit. Result: how many of the two have been granted, permits of the outer and of the inner limit free, calls waiting.
 */
@JCStressTest
@Outcome(id = "1, 0, 0, 1", expect = ACCEPTABLE, desc = "the call under both limits has the permits, the other waits")
@Outcome(
        id = "1, 0, 1, 1",
        expect = ACCEPTABLE,
        desc = "the call under the outer limit has its permit, the other waits")
@Outcome(id = "0, 1, .*", expect = FORBIDDEN, desc = "lost wake-up: both wait although a permit is free")
@Outcome(id = "2, .*", expect = FORBIDDEN, desc = "two calls share the only permit")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "a permit is lost, or was given back twice, or a queue has miscounted")
@State
public class InnerAgainstOuter {

    private final TaskLimits limits = StressedRequest.limits(
            LimitSettings.of("db", 1), LimitSettings.of("report", 1).withWithin("db"));
    private final TaskLimit db = limits.get("db");
    private final TaskLimit report = limits.get("report");
    private final StressedRequest holder = StressedRequest.holding(report);
    private final StressedRequest inner = new StressedRequest(report);
    private final StressedRequest outer = new StressedRequest(db);

    @Actor
    public void releaseAndSubmitInner() {
        holder.giveBack();
        inner.ask();
    }

    @Actor
    public void submitOuter() {
        outer.ask();
    }

    @Arbiter
    public void look(IIII_Result result) {
        result.r1 = inner.timesGranted() + outer.timesGranted();
        result.r2 = db.available();
        result.r3 = report.available();
        result.r4 = db.waiting() + report.waiting();
    }
}
