package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * A permit of a call that may go on after its thread has left it, such as a web request that is answered asynchronously. Made by
 * {@link TaskEngine#acquire}.
 *
 * <p>Not thread-safe: one thread at a time has the call. {@link #close} may be called on any thread at any time; the first call
 * counts.
 */
@Internal
public final class HeldPermit {

    private final CallerTask call;
    private final PermitHolders holders;
    private final AtomicBoolean closed = new AtomicBoolean();

    HeldPermit(CallerTask call) {
        this.call = call;
        this.holders = call.parts().holders();
    }

    /** The current thread goes on to other work. Calls that it makes do not run under this permit any more. Never blocks. */
    public void leaveThread() {
        call.leaveThread();
        if (!closed.get()) {
            holders.away.add(call);
            if (closed.get()) { // in between
                holders.away.remove(call);
            }
        }
    }

    /** The current thread goes on with the call: calls that it makes under the same limit run under this permit. Never blocks. */
    public void enterThread() {
        holders.away.remove(call);
        call.enterThread();
    }

    /**
     * Gives the permit back, which starts the next call in the queue. Never blocks. The thread that has the call leaves it by {@link
     * #leaveThread}, before or after this.
     *
     * @param failure what the call failed with, null if it did not
     */
    public void close(@Nullable Throwable failure) {
        if (closed.compareAndSet(false, true)) {
            call.end(failure);
        }
    }
}
