package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Permits in a semaphore, waiting calls in a queue.
 *
 * <p>No wake-up is lost between "the queue is empty" and "a permit is free": who gives a permit back looks at the queue
 * afterwards, who joins the queue looks at the permits afterwards.
 */
final class SemaphoreLimit implements TaskLimit {

    private final LimitSettings settings;
    private volatile String name;
    private final Semaphore permits;
    private final long maxWaitNanos; // Long.MAX_VALUE: any time
    private final TaskTimer timer;
    private final ReentrantLock lock = new ReentrantLock();
    private final WaitQueue queue = new WaitQueue();
    private boolean expiryScheduled; // guarded by lock

    SemaphoreLimit(LimitSettings settings, TaskTimer timer) {
        this.settings = settings;
        this.name = settings.name();
        this.permits = new Semaphore(settings.permits());
        Duration maxWait = settings.maxWait();
        this.maxWaitNanos = maxWait == null ? Long.MAX_VALUE : TimeUnit.NANOSECONDS.convert(maxWait);
        this.timer = timer;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int permits() {
        return settings.permits();
    }

    @Override
    public int available() {
        return Math.max(0, permits.availablePermits());
    }

    @Override
    public int waiting() {
        return queue.size();
    }

    @Override
    public int queueCapacity() {
        return settings.queueCapacity();
    }

    @Override
    public @Nullable Duration maxWait() {
        return settings.maxWait();
    }

    void spell(String spelling) {
        name = spelling;
    }

    /** As in {@code db (20 permits, queue of 100, wait up to 2s)}. */
    @Override
    public String toString() {
        String capacity =
                queueCapacity() == LimitSettings.UNBOUNDED ? "unbounded queue" : "queue of " + queueCapacity();
        Duration wait = maxWait();
        return "%s (%d permits, %s, %s)"
                .formatted(name(), permits(), capacity, wait == null ? "unbounded wait" : "wait up to " + text(wait));
    }

    /** ISO 8601 without its prefix is what people write in properties: {@code 1m30s}. */
    static String text(Duration duration) {
        return duration.toString().substring(2).toLowerCase(Locale.ROOT);
    }

    /** Grants the request, queues it, or says why not. */
    @Nullable
    Reason admit(PermitRequest request) {
        boolean granted = takePermit();
        if (!granted) {
            lock.lock();
            try {
                granted = takePermit();
                if (!granted && queue.size() >= settings.queueCapacity()) {
                    return Reason.QUEUE_FULL;
                }
                if (!granted) {
                    request.queuedAt = System.nanoTime();
                    enqueue(request);
                }
            } finally {
                lock.unlock();
            }
        }
        if (granted) {
            Throwable failure = request.grant();
            if (failure != null) {
                release();
                request.grantFailed(failure);
            }
        } else if (permits.availablePermits() > 0) {
            serve();
        }
        return null;
    }

    /** A request that could not expire, since the timer cannot get its thread, does not wait. */
    private void enqueue(PermitRequest request) {
        queue.add(request);
        try {
            scheduleExpiry();
        } catch (Throwable noTimer) {
            queue.remove(request);
            throw noTimer;
        }
    }

    /** Takes a permit only while nobody waits, so that nobody is overtaken. */
    private boolean takePermit() {
        return queue.isEmpty() && permits.tryAcquire();
    }

    /** Returns a permit and grants it to the first in the queue. */
    void release() {
        permits.release();
        if (!queue.isEmpty()) {
            serve();
        }
    }

    /**
     * A loop, not a recursion: however many requests fail to start one after the other, the stack does not grow. They are
     * told after it, since what they do then may block.
     */
    private void serve() {
        List<Runnable> failures = new ArrayList<>();
        for (PermitRequest next = takeNext(); next != null; next = takeNext()) {
            PermitRequest request = next;
            Throwable failure = request.grant();
            if (failure != null) {
                permits.release();
                failures.add(() -> request.grantFailed(failure));
            }
        }
        failures.forEach(Runnable::run);
    }

    /** The first in the queue, together with a permit for it. */
    private @Nullable PermitRequest takeNext() {
        lock.lock();
        try {
            return queue.isEmpty() || !permits.tryAcquire() ? null : queue.poll();
        } finally {
            lock.unlock();
        }
    }

    /** Takes one request out of the queue, if it is still there. */
    boolean remove(PermitRequest request) {
        lock.lock();
        try {
            if (!request.isQueued()) {
                return false;
            }
            queue.remove(request);
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Puts out everybody who waits. */
    void evict(Reason reason) {
        reject(pollWaitingAtLeast(Long.MIN_VALUE), reason);
    }

    /** All wait equally long at most, so they expire in the order of the queue: one timer, for its head, serves all. */
    private void scheduleExpiry() {
        PermitRequest head = queue.peek();
        if (head != null && maxWaitNanos != Long.MAX_VALUE && !expiryScheduled) {
            timer.schedule(this::expire, maxWaitNanos - (System.nanoTime() - head.queuedAt));
            expiryScheduled = true;
        }
    }

    private void expire() {
        List<PermitRequest> expired = pollWaitingAtLeast(maxWaitNanos);
        lock.lock();
        try {
            expiryScheduled = false;
            scheduleExpiry();
        } finally {
            lock.unlock();
        }
        reject(expired, Reason.WAIT_TIMEOUT);
    }

    private List<PermitRequest> pollWaitingAtLeast(long nanos) {
        List<PermitRequest> polled = new ArrayList<>();
        lock.lock();
        try {
            long now = System.nanoTime();
            for (PermitRequest head = queue.peek(); head != null && now - head.queuedAt >= nanos; head = queue.peek()) {
                queue.remove(head);
                polled.add(head);
            }
        } finally {
            lock.unlock();
        }
        return polled;
    }

    private static void reject(List<PermitRequest> requests, Reason reason) {
        requests.forEach(request -> request.rejected(reason));
    }
}
