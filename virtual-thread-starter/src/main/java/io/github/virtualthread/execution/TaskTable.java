package io.github.virtualthread.execution;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A set where each element takes the slot that its number leads to. Numbers that follow each other lead to slots far apart, so
 * threads that add and remove at the same time seldom contend. Adding and removing are one write each, without a lock and without a
 * shared count.
 *
 * <p>If more than half of the slots are taken, their number doubles. The old slots stay for the elements in them.
 */
final class TaskTable<T> {

    private static final int FEWEST_SLOTS = 64;
    private static final int ATTEMPTS = 16;
    private static final int STEP = 0x9E3779B9; // the golden section of all numbers, and odd: reaches all slots

    /** One table of each size, at the logarithm of the size. A slot is the size plus the index, so it identifies both. */
    private final AtomicReferenceArray<@Nullable AtomicReferenceArray<@Nullable T>> tables =
            new AtomicReferenceArray<>(Integer.SIZE);

    final ReentrantLock growth = new ReentrantLock();
    private volatile AtomicReferenceArray<@Nullable T> largest = table(FEWEST_SLOTS);

    /** Takes a slot, for {@link #leave}. Many that enter at the same time should have numbers of their own. */
    int enter(T task, long number) {
        int from = (int) number;
        int slot = enter(task, from, largest);
        while (slot == 0) {
            grow();
            slot = enter(task, ++from, largest); // elsewhere: those that have these slots may stay
        }
        return slot;
    }

    private int enter(T task, int number, AtomicReferenceArray<@Nullable T> table) {
        int size = table.length();
        int index = (number * STEP) >>> (Integer.numberOfLeadingZeros(size) + 1); // as many bits as the size needs
        for (int i = 0; i < ATTEMPTS; i++) {
            if (table.get(index) == null && table.compareAndSet(index, null, task)) {
                return size + index;
            }
            index = (index + STEP) & (size - 1);
        }
        return 0;
    }

    void leave(int slot) {
        int size = Integer.highestOneBit(slot);
        tables.get(Integer.numberOfTrailingZeros(size)).setRelease(slot - size, null);
    }

    /** All elements that were added before this call and have not left. */
    List<T> all() {
        List<T> all = new ArrayList<>();
        for (int i = 0; i < tables.length(); i++) {
            AtomicReferenceArray<@Nullable T> table = tables.get(i);
            for (int index = 0; table != null && index < table.length(); index++) {
                T task = table.get(index);
                if (task != null) {
                    all.add(task);
                }
            }
        }
        return all;
    }

    /** No thread waits for another one that does this, because that may be a virtual thread that gets no carrier. */
    private void grow() {
        if (!growth.tryLock()) {
            Thread.onSpinWait();
            return;
        }
        try {
            AtomicReferenceArray<@Nullable T> table = largest;
            int taken = 0;
            for (int index = 0; index < table.length(); index++) {
                taken += table.get(index) == null ? 0 : 1;
            }
            if (taken > table.length() / 2) {
                largest = table(table.length() * 2);
            }
        } finally {
            growth.unlock();
        }
    }

    private AtomicReferenceArray<@Nullable T> table(int size) {
        AtomicReferenceArray<@Nullable T> table = new AtomicReferenceArray<>(size);
        tables.set(Integer.numberOfTrailingZeros(size), table);
        return table;
    }
}
