package io.github.virtualthread.limit;

import java.util.Arrays;

/** Moments, the earliest first. A heap of numbers: a queue of objects would take three times as long. */
final class Moments {

    private long[] heap = new long[16];
    private int size;

    boolean isEmpty() {
        return size == 0;
    }

    /** The earliest; there must be one. */
    long first() {
        return heap[0];
    }

    void add(long moment) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, 2 * size);
        }
        int place = size++;
        while (place > 0 && heap[(place - 1) / 2] > moment) {
            heap[place] = heap[(place - 1) / 2];
            place = (place - 1) / 2;
        }
        heap[place] = moment;
    }

    /** Removes the earliest; there must be one. */
    void removeFirst() {
        long moment = heap[--size];
        int place = 0;
        int child = earlierChild(place);
        while (child < size && heap[child] < moment) {
            heap[place] = heap[child];
            place = child;
            child = earlierChild(place);
        }
        heap[place] = moment;
    }

    private int earlierChild(int place) {
        int left = 2 * place + 1;
        return left + 1 < size && heap[left + 1] < heap[left] ? left + 1 : left;
    }

    void clear() {
        size = 0;
    }
}
