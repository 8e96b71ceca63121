package io.github.virtualthread.limit;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The queue that a limit would have if it were in force, with one number of permits. Calls come and end when they really do. Here each
 * begins when it comes or later, runs for as long as it really runs, and so ends when it really ends or later: whoever ends here up to
 * now has really ended, and nothing is guessed.
 *
 * <p>Everything needs the lock of the limit.
 */
final class ShadowQueue {

    /** Maximum number of waiting calls. Further ones are left out. */
    static final int MOST_WAITING = 100_000;

    private final int index;
    private final Deque<ShadowCall> waiting = new ArrayDeque<>();
    private final Moments ends = new Moments(); // of those that run, and have really ended
    private final Waits waits = new Waits();
    private int permits;
    private int queueCapacity;
    private long maxWait;
    private int running;
    private long calls;
    private long waited;
    private long rejected;
    private long beyond;
    private int mostWaiting;

    /**
     * Creates a queue without permits.
     *
     * @param index of this shadow among those of its limit
     */
    ShadowQueue(int index) {
        this.index = index;
    }

    /** The limit has other numbers from now on. Calls that wait stay, unless they have waited too long. */
    void resize(int permits, int queueCapacity, @Nullable Duration maxWait, long now) {
        catchUp(now);
        this.permits = permits;
        this.queueCapacity = queueCapacity;
        this.maxWait = maxWait == null ? Long.MAX_VALUE : TimeUnit.NANOSECONDS.convert(maxWait);
        beginNext(now);
    }

    /** A call comes. */
    void come(ShadowCall call, long now) {
        catchUp(now);
        calls++;
        if (running < permits) { // then nobody waits
            begin(call, now);
        } else if (waiting.size() >= queueCapacity) {
            rejected++;
        } else {
            waited++;
            join(call);
        }
    }

    private void join(ShadowCall call) {
        if (waiting.size() < MOST_WAITING) {
            waiting.add(call);
            mostWaiting = Math.max(mostWaiting, waiting.size());
        } else {
            beyond++;
        }
    }

    /** A call has really ended. */
    void end(ShadowCall call, long now) {
        long begun = call.begun(index); // if it begins only now, it is known by then that it has ended
        catchUp(now);
        if (begun == call.came) {
            free(now);
        } else if (begun != ShadowCall.NOT) {
            ends.add(call.end(index));
        }
    }

    /** So many calls run that began before the shadow. */
    void addStrangers(int number) {
        running += number;
    }

    /** One of these has really ended. */
    void endStranger(long now) {
        catchUp(now);
        free(now);
    }

    /** Nobody runs and nobody waits. What was counted stays. */
    void clear() {
        waiting.clear();
        ends.clear();
        running = 0;
    }

    /** Goes through all that happens up to now. */
    void catchUp(long now) {
        while (!ends.isEmpty() && ends.first() <= now) {
            long end = ends.first();
            ends.removeFirst();
            free(end);
        }
        expire(now);
    }

    private void free(long moment) {
        running--;
        beginNext(moment);
    }

    private void beginNext(long moment) {
        expire(moment);
        while (running < permits && !waiting.isEmpty()) {
            begin(waiting.remove(), moment);
        }
    }

    private void begin(ShadowCall call, long moment) {
        running++;
        call.begin(index, moment);
        waits.add(moment - call.came);
        if (call.hasEnded()) {
            ends.add(call.end(index));
        }
    }

    /** All wait equally long at most, so those that came first go first. */
    private void expire(long moment) {
        for (ShadowCall first = waiting.peek();
                first != null && moment - first.came >= maxWait;
                first = waiting.peek()) {
            waiting.remove();
            rejected++;
        }
    }

    TaskLimit.Shadow state() {
        return new TaskLimit.Shadow(
                permits,
                calls,
                waited,
                rejected,
                beyond,
                mostWaiting,
                waits.number(),
                waits.total(),
                waits.quantile(0.5),
                waits.quantile(0.99),
                waits.longest());
    }
}
