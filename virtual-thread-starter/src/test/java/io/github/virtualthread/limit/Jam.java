package io.github.virtualthread.limit;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;

/** Calls that wait under a limit which knows its pace: each minute of the wait that it expects took a few milliseconds to make. */
public final class Jam implements AutoCloseable {

    private static final int ENDS = 10;
    private static final int WAITING = 1_000;

    private final Deque<Call> calls = new ArrayDeque<>();

    /** One more call without a key would wait at least that long. Nobody else may use the limit, which rejects hopeless calls. */
    public Jam(TaskLimit limit, Duration least) {
        while (limit.waiting() < ENDS + WAITING) {
            calls.add(Call.asked(limit));
        }
        for (int i = 0; i < ENDS; i++) {
            calls.remove().giveBack();
        }
        while (expected(limit).compareTo(least) < 0) {
            Thread.onSpinWait();
        }
    }

    private static Duration expected(TaskLimit limit) {
        Duration known = limit.expectedWait();
        if (known == null) {
            throw new AssertionError("the wait is not known of " + limit);
        }
        return known;
    }

    @Override
    public void close() {
        calls.forEach(Call::giveBack);
    }
}
