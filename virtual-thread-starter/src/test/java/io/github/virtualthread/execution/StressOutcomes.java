package io.github.virtualthread.execution;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** How calls end: for those who made them, and as a listener hears of it. */
final class StressOutcomes implements TaskListener {

    final LongAdder submitted = new LongAdder();
    final LongAdder succeeded = new LongAdder();
    final LongAdder failed = new LongAdder();
    final LongAdder cancelled = new LongAdder();
    final LongAdder timedOut = new LongAdder();
    final Map<Reason, LongAdder> rejected = Arrays.stream(Reason.values())
            .filter(reason -> reason != Reason.NO_LEASE) // the limit is one of this JVM
            .collect(Collectors.toMap(Function.identity(), reason -> new LongAdder()));

    /** What a caller gets: null for a value. */
    void add(@Nullable Throwable failure) {
        switch (failure) {
            case null -> succeeded.increment();
            case LimitExceededException rejection ->
                rejected.get(rejection.reason()).increment();
            case CancellationException ignored -> cancelled.increment();
            case InterruptedException ignored -> cancelled.increment();
            case TimeoutException ignored -> timedOut.increment();
            default -> failed.increment();
        }
    }

    @Override
    public void submitted(TaskCall call) {
        submitted.increment();
    }

    @Override
    public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
        switch (outcome) {
            case SUCCESS -> succeeded.increment();
            case ERROR -> failed.increment();
            case CANCELLED -> cancelled.increment();
            case TIMEOUT -> timedOut.increment();
        }
    }

    @Override
    public void rejected(TaskCall call, LimitExceededException rejection) {
        rejected.get(rejection.reason()).increment();
    }

    long ended() {
        return succeeded.sum() + failed.sum() + cancelled.sum() + timedOut.sum() + rejections();
    }

    private long rejections() {
        return rejected.values().stream().mapToLong(LongAdder::sum).sum();
    }

    /** Every way to end, none of which should be missing. */
    List<Long> all() {
        List<LongAdder> all = new ArrayList<>(List.of(succeeded, failed, cancelled, timedOut));
        rejected.forEach((reason, number) -> {
            if (reason != Reason.KEY_QUEUE_FULL) { // no call has a key
                all.add(number);
            }
        });
        return all.stream().map(LongAdder::sum).toList();
    }

    @Override
    public String toString() {
        return "%s submitted = %s succeeded + %s failed + %s cancelled + %s timed out + %s rejected %s"
                .formatted(submitted, succeeded, failed, cancelled, timedOut, rejections(), rejected);
    }
}
