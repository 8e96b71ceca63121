package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.github.virtualthread.execution.StressedEngine.Holder;
import io.github.virtualthread.limit.LimitExceededException;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * Two calls join the queue of a limit that is full at about the time of their deadlines. Result: what their callers see, calls that
 * still wait, permits free after the one that was held came back.
 *
 * <p>Has found: a task does not look at the clock after it has asked for its permit: it waits forever.
 */
@JCStressTest
@Outcome(
        id = "DEADLINE, DEADLINE, 0, 1",
        expect = ACCEPTABLE,
        desc = "before it asked, as it asked, or while it waited")
@Outcome(id = "open, .*", expect = FORBIDDEN, desc = "the timer came before there was anything to end")
@Outcome(id = ".*, open, .*", expect = FORBIDDEN, desc = "the timer came before there was anything to end")
@Outcome(id = ".*, 0", expect = FORBIDDEN, desc = "the permit is lost")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "a call ran, or is still in the queue, or ended in another way")
@State
public class DeadlineAgainstJoin {

    private static final int SPINS = 2_000;

    private final StressedEngine stressed = new StressedEngine();
    private final Holder holder = stressed.hold();
    private volatile @Nullable CompletableFuture<@Nullable Object> first;
    private volatile @Nullable CompletableFuture<@Nullable Object> second;

    @Actor
    public void submit() {
        first = stressed.submitLate(StressedEngine.soon(100), SPINS, () -> "ran");
    }

    @Actor
    public void submitToo() {
        second = stressed.submitLate(StressedEngine.soon(100), SPINS, () -> "ran");
    }

    @Arbiter
    public void look(LLLL_Result result) {
        boolean unused = stressed.ends();
        result.r1 = seen(first);
        result.r2 = seen(second);
        result.r3 = stressed.limit().waiting();
        holder.release();
        result.r4 = stressed.limit().available();
    }

    private static Object seen(@Nullable CompletableFuture<@Nullable Object> future) {
        return future == null || !StressedEngine.becomes(future::isDone)
                ? "open"
                : future.handle((value, failure) -> failure instanceof LimitExceededException refused
                                ? refused.reason()
                                : String.valueOf(value))
                        .join();
    }
}
