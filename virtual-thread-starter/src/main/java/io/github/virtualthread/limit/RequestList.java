package io.github.virtualthread.limit;

import org.jspecify.annotations.Nullable;

/**
 * Requests in the order in which they came, linked by their own fields: adding and removing need no memory and no search. A
 * request is in one list at most. Everything needs the lock of the list's owner.
 */
final class RequestList {

    private @Nullable PermitRequest head;
    private @Nullable PermitRequest tail;

    @Nullable
    PermitRequest peek() {
        return head;
    }

    /** Whether a request that is in no other list is in this one. */
    boolean contains(PermitRequest request) {
        return request.previous != null || request.equals(head);
    }

    /** Adds a request that is in no list. */
    void add(PermitRequest request) {
        request.previous = tail;
        if (tail == null) {
            head = request;
        } else {
            tail.next = request;
        }
        tail = request;
    }

    /** Removes a request that is in the list. */
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
    }
}
