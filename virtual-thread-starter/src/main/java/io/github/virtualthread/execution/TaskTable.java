package io.github.virtualthread.execution;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Tasks, each at a place of its own, taken by chance: those that come and go at once seldom meet. To come and to go is one
 * write each, without a lock and without a count that all would share.
 *
 * <p>Where more than half of the places are taken, there will be twice as many. Those there were stay, for the tasks in them.
 */
final class TaskTable<T> {

    private static final int SMALLEST = 64;
    private static final int ATTEMPTS = 16;
    private static final int STEP = 0x9E3779B9; // far away, and odd: comes to all places

    /** One of each size, by the number of bits of the size. A place is the size plus the index, so that it tells both. */
    private final AtomicReferenceArray<@Nullable AtomicReferenceArray<@Nullable T>> tables =
            new AtomicReferenceArray<>(Integer.SIZE);

    final ReentrantLock growth = new ReentrantLock();
    private volatile AtomicReferenceArray<@Nullable T> largest = table(SMALLEST);

    /** Takes a place, which is to be left again. */
    int enter(T task) {
        int place = enter(task, largest);
        while (place == 0) {
            grow();
            place = enter(task, largest);
        }
        return place;
    }

    private int enter(T task, AtomicReferenceArray<@Nullable T> table) {
        int size = table.length();
        int random = ThreadLocalRandom.current().nextInt();
        for (int i = 0; i < ATTEMPTS; i++, random += STEP) {
            int index = random & (size - 1);
            if (table.get(index) == null && table.compareAndSet(index, null, task)) {
                return size + index;
            }
        }
        return 0;
    }

    void leave(int place) {
        int size = Integer.highestOneBit(place);
        tables.get(Integer.numberOfTrailingZeros(size)).setRelease(place - size, null);
    }

    /** All tasks that were here before this was called and have not left. */
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

    /** Nobody waits for somebody else who does it: that may be a virtual thread that gets no carrier. */
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
