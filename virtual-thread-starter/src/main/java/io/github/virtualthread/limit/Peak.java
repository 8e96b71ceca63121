package io.github.virtualthread.limit;

import java.util.concurrent.TimeUnit;

/** The highest of a number in the last one to two minutes. Noting a number costs a comparison. Needs a lock of its owner. */
final class Peak {

    private static final long WINDOW = TimeUnit.MINUTES.toNanos(1);

    private int present; // in the window that lasts since the last reading that began one
    private int before; // in the window before
    private long since;

    /** Begins with a number. */
    Peak(int number, long now) {
        this.present = number;
        this.before = number;
        this.since = now;
    }

    void note(int number) {
        if (number > present) {
            present = number;
        }
    }

    /** Returns the peak. If the present window has lasted for a minute, the next one begins with the number of now. */
    int read(int number, long now) {
        note(number);
        if (now - since >= WINDOW) {
            before = present;
            present = number;
            since = now;
        }
        return Math.max(before, present);
    }
}
