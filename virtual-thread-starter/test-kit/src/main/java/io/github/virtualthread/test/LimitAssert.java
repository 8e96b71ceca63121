package io.github.virtualthread.test;

import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/**
 * Assertions on a limit, for tests with AssertJ, whatever runs them.
 *
 * <p>The numbers are those of this moment. A call takes its permit, or its place in the queue, before the method that submits it
 * returns, and gives its permit back before its future is complete. So a test that submits and joins its calls sees exact numbers.
 */
public final class LimitAssert extends AbstractAssert<LimitAssert, TaskLimit> {

    private static final long MOMENT = TimeUnit.MILLISECONDS.toNanos(1);

    private LimitAssert(@Nullable TaskLimit actual) {
        super(actual, LimitAssert.class);
    }

    /**
     * Begins assertions on a limit.
     *
     * @param actual the limit
     * @return assertions on it
     */
    public static LimitAssert assertThat(@Nullable TaskLimit actual) {
        return new LimitAssert(actual);
    }

    /**
     * Verifies how many permits are free. A limit that is occupied has none.
     *
     * @param permits expected number
     * @return this
     */
    public LimitAssert hasAvailable(int permits) {
        isNotNull();
        return is(actual.available(), permits, "available");
    }

    /**
     * Verifies how many permits calls hold, also calls of limits within this one.
     *
     * @param permits expected number
     * @return this
     */
    public LimitAssert hasInUse(int permits) {
        isNotNull();
        return is(actual.inUse(), permits, "in use");
    }

    /**
     * Verifies how many calls wait for a permit.
     *
     * @param calls expected number
     * @return this
     */
    public LimitAssert hasWaiting(int calls) {
        isNotNull();
        return is(actual.waiting(), calls, "waiting");
    }

    /**
     * Verifies that no call waits and none holds a permit. A limit may be idle and occupied.
     *
     * @return this
     */
    public LimitAssert isIdle() {
        isNotNull();
        if (!isIdleNow()) {
            failWithMessage("Expected limit '%s' to be idle, but it has %s", actual.name(), numbers());
        }
        return this;
    }

    /**
     * Waits until no call waits and none holds a permit, for calls that have no future. Fails after the given time, and if the
     * thread is interrupted.
     *
     * @param longest maximum time to wait
     * @return this
     */
    public LimitAssert becomesIdleWithin(Duration longest) {
        isNotNull();
        long begin = System.nanoTime();
        long nanos = TimeUnit.NANOSECONDS.convert(longest);
        while (!isIdleNow()
                && System.nanoTime() - begin < nanos
                && !Thread.currentThread().isInterrupted()) {
            LockSupport.parkNanos(this, MOMENT);
        }
        return isIdle();
    }

    /**
     * Verifies that there were never more calls at the same time in what the limit protects than the limit has permits.
     * Otherwise some of them do not pass the limit.
     *
     * @param calls count of a stub
     * @return this
     */
    public LimitAssert wasNeverExceededBy(ConcurrentCalls calls) {
        isNotNull();
        int most = calls.most();
        if (most > actual.permits()) {
            throw failureWithActualExpected(
                    most,
                    actual.permits(),
                    "Expected at most %d concurrent calls, the permits of limit '%s', but there were %d: some do not pass the limit",
                    actual.permits(),
                    actual.name(),
                    most);
        }
        return this;
    }

    /** The queue first: a call has its permit before it leaves the queue, so no call is overlooked. */
    private boolean isIdleNow() {
        return actual.waiting() == 0 && actual.inUse() == 0;
    }

    private LimitAssert is(int number, int expected, String what) {
        if (number != expected) {
            throw failureWithActualExpected(
                    number,
                    expected,
                    "Expected limit '%s' to have %d %s, but it has %s",
                    actual.name(),
                    expected,
                    what,
                    numbers());
        }
        return this;
    }

    private String numbers() {
        return "%d of %d %s available, %d in use, %d calls waiting%s"
                .formatted(
                        actual.available(),
                        actual.permits(),
                        actual.permits() == 1 ? "permit" : "permits",
                        actual.inUse(),
                        actual.waiting(),
                        actual.isOccupied() ? ", and is occupied" : "");
    }
}
