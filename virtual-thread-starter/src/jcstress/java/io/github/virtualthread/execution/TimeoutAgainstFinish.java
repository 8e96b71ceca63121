package io.github.virtualthread.execution;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.time.Duration;
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
 * A body ends at about the time of its timeout. Result: what the caller sees, what listeners hear, whether the thread is still
 * interrupted then, permits free.
 *
 * <p>Has found: the window closes without waiting for an interrupt on its way: it reaches listeners.
 */
@JCStressTest
@Outcome(id = "value, SUCCESS, false, 1", expect = ACCEPTABLE, desc = "the end came first")
@Outcome(id = "timeout, TIMEOUT, false, 1", expect = ACCEPTABLE, desc = "the timeout came first")
@Outcome(
        id = ".*, .*, true, .*",
        expect = FORBIDDEN,
        desc = "the interrupt meant for the body reached what comes after it")
@Outcome(id = "value, TIMEOUT, .*", expect = FORBIDDEN, desc = "caller and listeners see different ends")
@Outcome(id = "timeout, SUCCESS, .*", expect = FORBIDDEN, desc = "caller and listeners see different ends")
@Outcome(id = "open, .*", expect = FORBIDDEN, desc = "the call never ends")
@Outcome(id = ".*, 0", expect = FORBIDDEN, desc = "the permit is lost")
@Outcome(id = ".*", expect = FORBIDDEN, desc = "the permit was given back twice, or another end was made up")
@State
public class TimeoutAgainstFinish implements TaskListener {

    private final StressedEngine stressed = new StressedEngine(this);
    private volatile @Nullable CompletableFuture<@Nullable Object> future;
    private volatile boolean runs;
    private volatile boolean finish;
    private volatile TaskListener.@Nullable Outcome heard;
    private volatile boolean interrupted;

    private Object untilTold() {
        runs = true;
        while (!finish && !Thread.currentThread().isInterrupted()) {
            Thread.onSpinWait();
        }
        return "value";
    }

    @Override
    public void finished(TaskCall call, TaskListener.Outcome outcome, @Nullable Throwable failure) {
        interrupted = Thread.currentThread().isInterrupted();
        heard = outcome;
    }

    @Actor
    public void submit() {
        future = stressed.submit(Duration.ofNanos(1), this::untilTold);
    }

    @Actor
    public void finish() {
        StressedEngine.becomes(() -> runs);
        StressedEngine.spin(1000);
        finish = true;
    }

    @Arbiter
    public void look(LLLL_Result result) {
        CompletableFuture<@Nullable Object> submitted = future;
        boolean ended = stressed.ends() && submitted != null && StressedEngine.becomes(submitted::isDone);
        result.r1 = ended ? submitted.handle(TimeoutAgainstFinish::seen).join() : "open";
        result.r2 = heard;
        result.r3 = interrupted;
        result.r4 = stressed.limit().available();
    }

    private static Object seen(@Nullable Object value, @Nullable Throwable failure) {
        return failure == null ? String.valueOf(value) : failure instanceof TimeoutException ? "timeout" : failure;
    }
}
