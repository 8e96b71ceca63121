package io.github.virtualthread.aop;

import java.util.ArrayList;
import java.util.List;

/**
 * The operand stack of a running method, of which only one thing matters: the slots that certainly hold {@code this}.
 *
 * <p>What lies below the slots it knows of is something else, as far as it can tell. So a stack may begin empty anywhere.
 */
final class OperandStack {

    /** Whether a slot holds {@code this}; the top is the last one. */
    private final List<Boolean> slots;

    OperandStack() {
        this(List.of());
    }

    private OperandStack(List<Boolean> slots) {
        this.slots = new ArrayList<>(slots);
    }

    /** Whether a slot holds {@code this}; the slot at the top has depth 0. */
    boolean holdsThis(int depth) {
        return depth < slots.size() && slots.get(slots.size() - 1 - depth);
    }

    void pushThis() {
        slots.add(true);
    }

    /** Pushes slots that hold something else than {@code this}. */
    void push(int size) {
        for (int i = 0; i < size; i++) {
            slots.add(false);
        }
    }

    void pop(int size) {
        slots.subList(Math.max(0, slots.size() - size), slots.size()).clear();
    }

    void grow(int growth) {
        if (growth > 0) {
            push(growth);
        } else {
            pop(-growth);
        }
    }

    /** Copies the topmost slots and puts the copy below them and below {@code skipped} more. */
    void duplicate(int size, int skipped) {
        while (slots.size() < size + skipped) {
            slots.add(0, false);
        }
        int top = slots.size() - size;
        slots.addAll(top - skipped, List.copyOf(slots.subList(top, slots.size())));
    }

    /** A stack of which nothing is known that is not true of both. */
    OperandStack and(OperandStack other) {
        OperandStack both = new OperandStack();
        for (int depth = Math.min(slots.size(), other.slots.size()) - 1; depth >= 0; depth--) {
            both.slots.add(holdsThis(depth) && other.holdsThis(depth));
        }
        return both;
    }

    OperandStack copy() {
        return new OperandStack(slots);
    }
}
