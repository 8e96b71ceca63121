package io.github.virtualthread.limit;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * First in, first out, with removal from the middle in constant time. Everything but {@link #size()} and
 * {@link #isEmpty()} needs the lock of the limit.
 */
final class WaitQueue {

    private @Nullable PermitRequest head;
    private @Nullable PermitRequest tail;
    private volatile int size;

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** The first requests, at most this many. */
    List<PermitRequest> first(int most) {
        List<PermitRequest> first = new ArrayList<>();
        for (PermitRequest each = head; each != null && first.size() < most; each = each.next) {
            first.add(each);
        }
        return first;
    }

    /** The first request that is wanted. */
    Optional<PermitRequest> find(Predicate<PermitRequest> wanted) {
        for (PermitRequest each = head; each != null; each = each.next) {
            if (wanted.test(each)) {
                return Optional.of(each);
            }
        }
        return Optional.empty();
    }

    @Nullable
    PermitRequest peek() {
        return head;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    void add(PermitRequest request) {
        request.previous = tail;
        if (tail == null) {
            head = request;
        } else {
            tail.next = request;
        }
        tail = request;
        request.queued(true);
        size++;
    }

    @Nullable
    PermitRequest poll() {
        PermitRequest first = head;
        if (first != null) {
            remove(first);
        }
        return first;
    }

    /** Removes the first request, if it has waited at least this long at that moment of {@link System#nanoTime()}. */
    @Nullable
    PermitRequest pollWaitingAtLeast(long nanos, long moment) {
        return head != null && moment - head.joinedAt >= nanos ? poll() : null;
    }

    /** Removes a request that is in the queue. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock only
    void remove(PermitRequest request) {
        PermitRequest before = request.previous;
        PermitRequest after = request.next;
        if (before == null) {
            head = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            tail = before;
        } else {
            after.previous = before;
        }
        // a request that stays reachable must not keep its neighbours alive
        request.previous = null;
        request.next = null;
        request.queued(false);
        size--;
    }
}
