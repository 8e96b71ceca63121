package io.github.virtualthread.limit;

import org.jspecify.annotations.Nullable;

/**
 * First in, first out, with removal from the middle in constant time. Everything but {@link #size()} needs the lock of the
 * limit.
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

    /** Takes a request out that is in. */
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
