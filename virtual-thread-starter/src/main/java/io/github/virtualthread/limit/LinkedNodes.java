package io.github.virtualthread.limit;

import org.jspecify.annotations.Nullable;

/**
 * Nodes in the order in which they came, linked by their own fields: adding and removing need no memory and no search. A node is in
 * one list at most. Everything needs the lock of the list's owner.
 */
final class LinkedNodes<N extends LinkedNodes.Node<N>> {

    /** Has no field for its list: each call and each key would pay for that. */
    abstract static class Node<N extends Node<N>> {

        /** The node before it. Its owner may keep something else here while it is in no list. */
        @Nullable
        Object previous;

        @Nullable
        N next;
    }

    private @Nullable N head;
    private @Nullable N tail;

    @Nullable
    N peek() {
        return head;
    }

    /** Whether a node that is in no other list is in this one. */
    boolean contains(N node) {
        return node.next != null || node.equals(tail);
    }

    /** Adds a node that is in no list. */
    void add(N node) {
        node.previous = tail;
        if (tail == null) {
            head = node;
        } else {
            tail.next = node;
        }
        tail = node;
    }

    /** Removes a node that is in the list. */
    @SuppressWarnings("unchecked")
    void remove(N node) {
        N before = (N) node.previous;
        N after = node.next;
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
        // a node that stays reachable must not keep its neighbours alive
        node.previous = null;
        node.next = null;
    }
}
