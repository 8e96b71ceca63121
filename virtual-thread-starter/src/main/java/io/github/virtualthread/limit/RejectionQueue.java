package io.github.virtualthread.limit;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Requests that get no permit any more, until each has been told so, first in, first out. Linked by their own fields, because memory
 * may be short.
 *
 * <p>One that is being told stays here until that is done: where memory is short, the JVM may take what a thread does off its stack.
 * What was lost that way is told by {@link #tellAgain}.
 */
final class RejectionQueue {

    private final BriefLock lock = new BriefLock();
    private final RequestList requests = new RequestList(); // guarded by the lock
    private volatile int untold;
    private final TaskTimer timer;
    private final AtomicBoolean telling = new AtomicBoolean(); // whether a thread of its own tells all

    RejectionQueue(TaskTimer timer) {
        this.timer = timer;
    }

    /** Whether there is nobody to tell but those that somebody tells already. */
    boolean isEmpty() {
        return untold == 0;
    }

    /**
     * Adds a request that is in no other queue, and has it let go of what it does not need to be told.
     *
     * @param reason why it gets no permit; null where it had one and could not use it
     */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    void add(PermitRequest request, @Nullable Reason reason) {
        request.refused(reason);
        lock.lock();
        try {
            requests.add(request);
            untold++;
        } finally {
            lock.unlock();
        }
    }

    /** Has one thread tell all, by turns. Does not block. If no thread can be had, this throws, and may be called again. */
    void tellSoon() {
        if (!isEmpty() && telling.compareAndSet(false, true)) {
            try {
                timer.handOff(this::tellInTurn);
            } catch (Throwable noThread) {
                telling.set(false);
                throw noThread;
            }
        }
    }

    private void tellInTurn() {
        do {
            for (int told = 0; tellNext(); told++) {
                if (told == HandOffs.TURNS && timer.goesOnOnPlatformThread(this::tellInTurn)) {
                    return;
                }
            }
            telling.set(false);
        } while (!isEmpty() && telling.compareAndSet(false, true)); // somebody may have come in between
    }

    /** Tells all. May block, must be called without the lock of the limit. */
    void tellAll() {
        boolean more = !isEmpty();
        while (more) {
            more = tellNext();
        }
    }

    /** Tells the first, if there is one; returns whether there was. One that cannot be told does not keep the others from it. */
    boolean tellNext() {
        PermitRequest next = begin();
        if (next != null) {
            tell(next);
        }
        return next != null;
    }

    /** Tells also those that somebody may be telling: they hear it once more at most, and then it is nothing to them. */
    void tellAgain() {
        tellAll();
        for (PermitRequest lost = beginAgain(); lost != null; lost = beginAgain()) {
            tell(lost);
        }
    }

    private void tell(PermitRequest request) {
        try {
            request.tellRefused();
        } catch (Throwable failure) {
            TaskTimer.tell(failure);
        }
        remove(request);
    }

    /** The first, which somebody may be telling, or which has come just now. */
    private @Nullable PermitRequest beginAgain() {
        lock.lock();
        try {
            return begun(requests.peek());
        } finally {
            lock.unlock();
        }
    }

    /** The first that nobody tells yet: those before it are as many as there are threads that do. */
    private @Nullable PermitRequest begin() {
        lock.lock();
        try {
            PermitRequest next = requests.peek();
            while (next != null && next.isBeingTold()) {
                next = next.next;
            }
            return begun(next);
        } finally {
            lock.unlock();
        }
    }

    /** Needs the lock. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    private @Nullable PermitRequest begun(@Nullable PermitRequest request) {
        if (request != null && !request.isBeingTold()) {
            request.beingTold();
            untold--;
        }
        return request;
    }

    private void remove(PermitRequest request) {
        lock.lock();
        try {
            if (requests.contains(request)) { // otherwise another thread has told it, too
                requests.remove(request);
            }
        } finally {
            lock.unlock();
        }
    }
}
