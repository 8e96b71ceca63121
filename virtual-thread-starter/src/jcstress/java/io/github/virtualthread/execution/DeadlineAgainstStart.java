package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import io.github.virtualthread.execution.StressedEngine.Holder;
import io.github.virtualthread.limit.LimitExceededException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * A call gets its permit, and its body begins, at about the time of its deadline; nothing but the deadline ends the body. Result: what
 * the caller sees, what listeners hear, whether the thread is still interrupted then, permits free.
 *
 * <p>Has found: a task does not look at the clock after it has opened the window for interrupts: its body runs forever.
 */
@JCStressTest
@Outcome(id = "DEADLINE, DEADLINE, false, 1", expect = ACCEPTABLE, desc = "before the body began")
@Outcome(id = "timeout, TIMEOUT, false, 1", expect = ACCEPTABLE, desc = "the body had begun, or was about to")
@Outcome(id = "open, .*", expect = FORBIDDEN, desc = "the timer came when there was nothing to interrupt")
@Outcome(id = ".*, .*, true, .*", expect = FORBIDDEN, desc = "the interrupt reached what comes after the body")
@Outcome(id = ".*, 0", expect = FORBIDDEN, desc = "the permit is lost")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "caller and listeners see different ends, or another one was made up")
@State
public class DeadlineAgainstStart implements TaskListener {

    private static final int SPINS = 1_000;

    private final StressedEngine stressed = new StressedEngine(this);
    private final Holder holder = stressed.hold();
    private volatile @Nullable CompletableFuture<@Nullable Object> future;
    private volatile boolean over;
    private volatile @Nullable Object heard;
    private volatile boolean interrupted;

    private Object untilInterrupted() {
        while (!over && !Thread.currentThread().isInterrupted()) {
            Thread.onSpinWait();
        }
        return "ran";
    }

    /** Between the last look but one at the clock and the body. */
    @Override
    public void started(TaskCall call) {
        StressedEngine.spin(SPINS);
    }

    @Override
    public void rejected(TaskCall call, LimitExceededException rejection) {
        interrupted = Thread.currentThread().isInterrupted();
        heard = rejection.reason();
    }

    @Override
    public void finished(TaskCall call, TaskListener.Outcome outcome, @Nullable Throwable failure) {
        interrupted = Thread.currentThread().isInterrupted();
        heard = outcome;
    }

    @Actor
    public void submit() {
        future = stressed.submitLate(StressedEngine.soon(500), 1, this::untilInterrupted);
    }

    @Actor
    public void release() {
        StressedEngine.spin(SPINS);
        holder.release();
    }

    @Arbiter
    public void look(LLLL_Result result) {
        CompletableFuture<@Nullable Object> submitted = future;
        boolean ended = stressed.ends() && submitted != null && StressedEngine.becomes(submitted::isDone);
        over = true;
        result.r1 = ended ? submitted.handle(DeadlineAgainstStart::seen).join() : "open";
        result.r2 = heard;
        result.r3 = interrupted;
        result.r4 = stressed.limit().available();
    }

    private static Object seen(@Nullable Object value, @Nullable Throwable failure) {
        return failure instanceof LimitExceededException refused
                ? refused.reason()
                : failure instanceof TimeoutException ? "timeout" : failure == null ? String.valueOf(value) : failure;
    }
}
