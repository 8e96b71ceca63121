package io.github.virtualthread.limit;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

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
    void resize(int permits, LimitSettings settings, long now) {
        catchUp(now);
        this.permits = permits;
        Duration longest = settings.maxWait();
        queueCapacity = settings.queueCapacity();
        maxWait = longest == null ? Long.MAX_VALUE : TimeUnit.NANOSECONDS.convert(longest);
        beginNext(now);
    }

    /** A call comes. */
    void come(ShadowCall call, long now) {
        endUntil(now);
        calls++;
        if (running < permits) { // then nobody waits
            begin(call, now);
        } else {
            rejectOverdue(now);
            join(call);
        }
    }

    private void join(ShadowCall call) {
        if (waiting.size() >= queueCapacity) {
            rejected++;
            return;
        }
        waited++;
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
        endUntil(now);
        if (begun == call.came) {
            free(now);
        } else if (begun != ShadowCall.NOT) {
            ends.add(begun + call.ran);
        }
    }

    /** Nobody runs and nobody waits. What was counted stays. */
    void clear() {
        waiting.clear();
        ends.clear();
        running = 0;
    }

    /** Goes through all that happens up to now. */
    void catchUp(long now) {
        endUntil(now);
        rejectOverdue(now);
    }

    private void endUntil(long now) {
        while (ends.first() <= now) {
            free(ends.removeFirst());
        }
    }

    private void free(long moment) {
        running--;
        beginNext(moment);
    }

    /** All wait equally long at most, so those that came first go first, with a permit or without. */
    private void beginNext(long moment) {
        rejectOverdue(moment);
        while (running < permits && !waiting.isEmpty()) {
            begin(waiting.remove(), moment);
        }
    }

    private void rejectOverdue(long moment) {
        while (!waiting.isEmpty() && moment - waiting.element().came >= maxWait) {
            waiting.remove();
            rejected++;
        }
    }

    private void begin(ShadowCall call, long moment) {
        running++;
        call.begin(index, moment);
        waits.add(moment - call.came);
        if (call.ran != ShadowCall.NOT) {
            ends.add(moment + call.ran);
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
                waits.number,
                Duration.ofNanos(waits.total),
                waits.quantile(0.5),
                waits.quantile(0.99),
                Duration.ofNanos(waits.longest));
    }

    /** A call under a limit that only watches. By {@link System#nanoTime}. An array in it would cost 24 bytes. */
    static final class ShadowCall {

        static final long NOT = Long.MIN_VALUE;

        int era; // of its dry run
        final long came;
        private long ran = NOT; // until it has really ended
        private long begunInFirst = NOT;
        private long begunInSecond = NOT;
        private long begunInThird = NOT;

        ShadowCall(long came) {
            this.came = came;
        }

        /** When it has begun in one of the shadows; not if it waits there, or was rejected. */
        long begun(int index) {
            return switch (index) {
                case 0 -> begunInFirst;
                case 1 -> begunInSecond;
                default -> begunInThird;
            };
        }

        private void begin(int index, long moment) {
            switch (index) {
                case 0 -> begunInFirst = moment;
                case 1 -> begunInSecond = moment;
                default -> begunInThird = moment;
            }
        }

        /** It has really ended, so it is known how long it ran. */
        void end(long moment) {
            ran = moment - came;
        }
    }

    /** The earliest first. A heap of numbers, because one of objects costs a call 30 ns and 30 bytes more. */
    private static final class Moments {

        private long[] heap = new long[16];
        private int size;

        /** The earliest; the end of time if there is none. */
        long first() {
            return size == 0 ? Long.MAX_VALUE : heap[0];
        }

        void add(long moment) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, 2 * size);
            }
            int place = size++;
            while (place > 0 && heap[(place - 1) / 2] > moment) {
                heap[place] = heap[(place - 1) / 2];
                place = (place - 1) / 2;
            }
            heap[place] = moment;
        }

        /** Removes the earliest; there must be one. */
        long removeFirst() {
            long first = heap[0];
            long last = heap[--size];
            int place = 0;
            int child = earlierChild(place);
            while (child < size && heap[child] < last) {
                heap[place] = heap[child];
                place = child;
                child = earlierChild(place);
            }
            heap[place] = last;
            return first;
        }

        private int earlierChild(int place) {
            int left = 2 * place + 1;
            return left + 1 < size && heap[left + 1] < heap[left] ? left + 1 : left;
        }

        void clear() {
            size = 0;
        }
    }

    /** How long many calls have waited, counted in steps: each is a 64th of a power of two, as the first bits of a float are. */
    static final class Waits {

        private static final int REST = 17; // bits of a float that are left out: 6 of its fraction remain
        private static final int FIRST = Float.floatToRawIntBits(1) >> REST;

        private final long[] counts = new long[index(Long.MAX_VALUE) + 1];
        private long number;
        private long total;
        private long longest;

        void add(long nanos) {
            counts[index(nanos)]++;
            number++;
            total += nanos;
            longest = Math.max(longest, nanos);
        }

        private static int index(long nanos) {
            return (Float.floatToRawIntBits(nanos + 1f) >> REST) - FIRST;
        }

        /** The middle of a step. */
        private static long nanos(int index) {
            int bits = ((FIRST + index) << REST) + (1 << (REST - 1));
            return (long) (Float.intBitsToFloat(bits) - 1);
        }

        /** The wait that so large a part of the calls did not exceed, right to 1 %; zero if there was none. */
        Duration quantile(double part) {
            long left = (long) Math.ceil(part * number);
            for (int i = 0; i < counts.length; i++) {
                left -= counts[i];
                if (left <= 0) {
                    return Duration.ofNanos(Math.min(nanos(i), longest));
                }
            }
            return Duration.ZERO;
        }
    }
}
