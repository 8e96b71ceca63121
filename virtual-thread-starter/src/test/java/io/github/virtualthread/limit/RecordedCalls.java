package io.github.virtualthread.limit;

import io.github.virtualthread.limit.ShadowQueue.ShadowCall;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/** Calls with the times at which they come and for which they run, given to a real limit or to a shadow, by a virtual clock in nanoseconds. */
final class RecordedCalls {

    static final long NEVER = ShadowCall.NOT;

    private static final double SECOND = TimeUnit.SECONDS.toNanos(1);

    final long[] came;
    final long[] runs;

    /** So many calls, which come by chance, so many a second. */
    RecordedCalls(int number, double perSecond, ToDoubleFunction<Random> seconds, long seed) {
        Random random = new Random(seed);
        came = new long[number];
        runs = new long[number];
        double now = 0;
        for (int i = 0; i < number; i++) {
            now += -Math.log(1 - random.nextDouble()) / perSecond;
            came[i] = (long) (now * SECOND);
            runs[i] = 1 + (long) (seconds.applyAsDouble(random) * SECOND);
        }
    }

    /** What a limit is set to, and what becomes of it in the middle of the calls. */
    record Numbers(int permits, int queueCapacity, long maxWait, int permitsLater) {

        Numbers half() {
            return new Numbers(Math.max(1, permits / 2), queueCapacity, maxWait, Math.max(1, permitsLater / 2));
        }

        Numbers twice() {
            return new Numbers(2 * permits, queueCapacity, maxWait, 2 * permitsLater);
        }
    }

    private long middle() {
        return came[came.length / 2] - 1;
    }

    /** When each call begins under a real limit, {@link #NEVER} for one that is rejected. Its maximum wait is by the virtual clock, too. */
    long[] underLimit(SemaphoreLimit limit, Numbers numbers) {
        return new Reality(limit, numbers).run();
    }

    /** When each call begins in a shadow, which sees the calls come and end as they do without a limit. */
    long[] inShadow(ShadowQueue shadow, Numbers numbers) {
        ShadowCall[] calls = new ShadowCall[came.length];
        shadow.resize(numbers.permits, settings(numbers), 0);
        PriorityQueue<Integer> ends = new PriorityQueue<>(Comparator.comparingLong(call -> came[call] + runs[call]));
        boolean resized = false;
        for (int next = 0; next < came.length || !ends.isEmpty(); ) {
            boolean comes =
                    next < came.length && (ends.isEmpty() || came[next] <= came[ends.element()] + runs[ends.element()]);
            long now = comes ? came[next] : came[ends.element()] + runs[ends.element()];
            if (!resized && now > middle()) {
                shadow.resize(numbers.permitsLater, settings(numbers), middle());
                resized = true;
            }
            if (comes) {
                calls[next] = new ShadowCall(now);
                shadow.come(calls[next], now);
                ends.add(next);
                next++;
            } else {
                ShadowCall call = calls[ends.remove()];
                call.end(now);
                shadow.end(call, now);
            }
        }
        shadow.catchUp(Long.MAX_VALUE / 2);
        long[] begun = new long[came.length];
        for (int i = 0; i < begun.length; i++) {
            begun[i] = calls[i].begun(0);
        }
        return begun;
    }

    private static LimitSettings settings(Numbers numbers) {
        return LimitSettings.of("db", numbers.permits)
                .withQueueCapacity(numbers.queueCapacity)
                .withMaxWait(numbers.maxWait == Long.MAX_VALUE ? null : Duration.ofNanos(numbers.maxWait));
    }

    private record Event(long at, Runnable what) {}

    private final class Reality {

        private final PriorityQueue<Event> events = new PriorityQueue<>(Comparator.comparingLong(Event::at));
        private final SemaphoreLimit limit;
        private final Numbers numbers;
        private final long[] begun = new long[came.length];
        private long now;

        Reality(SemaphoreLimit limit, Numbers numbers) {
            this.limit = limit;
            this.numbers = numbers;
        }

        long[] run() {
            events.add(new Event(middle(), () -> limit.resize(numbers.permitsLater)));
            arrive(0);
            while (!events.isEmpty()) {
                Event next = events.remove();
                now = next.at;
                next.what.run();
            }
            return begun;
        }

        private void arrive(int which) {
            if (which < came.length) {
                events.add(new Event(came[which], () -> {
                    new Visit(which).come();
                    arrive(which + 1);
                }));
            }
        }

        private final class Visit extends PermitRequest {

            private final int which;

            Visit(int which) {
                this.which = which;
                begun[which] = NEVER;
            }

            void come() {
                boolean asked = ask(Long.MAX_VALUE) == null;
                if (asked && begun[which] == NEVER && numbers.maxWait < Long.MAX_VALUE) {
                    events.add(new Event(now + numbers.maxWait, this::leaveQueue));
                }
            }

            @Override
            protected TaskLimit limit() {
                return limit;
            }

            @Override
            protected void granted() {
                begun[which] = now;
                events.add(new Event(now + runs[which], this::giveBack));
            }

            @Override
            protected void onStartFailed(Throwable failure) {
                throw new AssertionError(failure);
            }

            @Override
            protected void reportRejected(LimitExceededException.@Nullable Reason reason) {}

            @Override
            protected void reportSoon() {}
        }
    }
}
