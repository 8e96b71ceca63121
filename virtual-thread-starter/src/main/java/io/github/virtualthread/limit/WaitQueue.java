package io.github.virtualthread.limit;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Requests that wait for a permit: first in, first out; where some have keys, these take turns. Leaving takes constant time.
 * Everything but {@link #size()} and {@link #isEmpty()} needs the lock of the limit.
 */
@SuppressWarnings("NonAtomicVolatileUpdate") // written under the lock of the admission only
final class WaitQueue {

    private final IntSupplier permitsPerKey;
    private final LinkedNodes<PermitRequest> plain = new LinkedNodes<>();
    private final LinkedNodes<PermitRequest> keyed = new LinkedNodes<>();
    private final LinkedNodes<PermitRequest> holding =
            new LinkedNodes<>(); // their threads hold permits of a limit around
    private volatile @Nullable KeyTurns turns; // null before the first key
    private volatile int size;
    final Peak peak = new Peak(System.nanoTime());

    WaitQueue(IntSupplier permitsPerKey) {
        this.permitsPerKey = permitsPerKey;
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    /**
     * A request comes, which may wait. If it has a key, keys take turns from now on.
     *
     * @param weight that of its key, null if all keys are equal
     */
    void arrive(@Nullable KeyedPlace place, @Nullable Double weight) {
        if (place != null && place.key != null) {
            KeyTurns known = turns;
            if (known == null) {
                known = new KeyTurns(permitsPerKey.getAsInt(), WaitQueue::newLine);
                turns = known;
                othersChanged();
            }
            known.arrive(place, place.key, weight);
        }
    }

    private static KeyTurns.Line newLine(String key, @Nullable Double weight) {
        return weight == null ? new KeyTurns.Line(key) : new WeightedLine(key, weight);
    }

    /** A request goes away that neither waits nor has a permit. */
    void leave(@Nullable KeyedPlace place) {
        if (place != null && turns != null) {
            turns.leave(place);
        }
    }

    /** The turns of keys, null before the first of them. Needs no lock. */
    @Nullable
    KeyTurns turns() {
        return turns;
    }

    /** Adds a request. */
    void add(PermitRequest request) {
        KeyedPlace place = request.place();
        list(place).add(request);
        if (place == null) {
            othersChanged();
        } else if (place.held == null && place.line != null && turns != null) {
            turns.join(request, place, place.line);
        }
        request.queued(true);
        size++;
        peak.note(size);
    }

    /** Removes a request that gets no permit. */
    void remove(PermitRequest request) {
        leave(unlink(request));
    }

    /** Removes a request that gets its permit. */
    void grant(PermitRequest request) {
        KeyedPlace place = unlink(request);
        if (place == null && turns != null) {
            turns.grantOther();
        }
        granted(place);
    }

    /** A request gets its permit, after it has waited or at once. */
    void granted(@Nullable KeyedPlace place) {
        if (place != null && turns != null) {
            turns.grant(place);
        }
    }

    /** A request gives its permit back. */
    void end(@Nullable KeyedPlace place) {
        if (place != null && turns != null) {
            turns.end(place);
        }
    }

    /** Whether the key of a request allows one more of them. */
    boolean mayRun(@Nullable KeyedPlace place) {
        return place == null || place.line == null || turns == null || turns.mayRun(place.line);
    }

    /** Whether more requests of a key wait, or have come and do not run, than may if its weight is 1. */
    boolean exceeds(@Nullable KeyedPlace place, int queueCapacityPerKey) {
        KeyTurns.Line line = place == null ? null : place.line;
        return line != null && line.waits() > line.share(queueCapacityPerKey);
    }

    /** Whether somebody waits who needs nothing but permits. */
    boolean isAnyReady() {
        return turns == null ? plain.peek() != null : turns.isAnyReady();
    }

    /** Whether calls with keys wait or run. */
    boolean hasKeys() {
        return turns != null && turns.keys() > 0;
    }

    /** How many could go if there were permits for all of them. */
    int ready() {
        return turns == null ? size : size - turns.blocked();
    }

    /** Who goes next once there are permits. */
    @Nullable
    PermitRequest next() {
        return turns == null || turns.isTurnOfOthers() ? plain.peek() : turns.next();
    }

    /** The first of those whose threads hold a permit of a limit around this one. */
    @Nullable
    PermitRequest firstHolding() {
        return holding.peek();
    }

    /** The request that has waited longest. */
    @Nullable
    PermitRequest oldest() {
        return older(older(plain.peek(), keyed.peek()), holding.peek());
    }

    /** The one of two that has waited longer. */
    static @Nullable PermitRequest older(@Nullable PermitRequest one, @Nullable PermitRequest other) {
        if (one == null || other == null) {
            return one == null ? other : one;
        }
        return other.joinedAt - one.joinedAt < 0 ? other : one;
    }

    /** Removes the oldest request, if it has waited at least this long at that moment of {@link System#nanoTime()}. */
    @Nullable
    PermitRequest pollWaitingAtLeast(long nanos, long moment) {
        PermitRequest oldest = oldest();
        if (oldest == null || moment - oldest.joinedAt < nanos) {
            return null;
        }
        remove(oldest);
        return oldest;
    }

    /** The requests that have waited longest, at most this many. */
    List<PermitRequest> first(int most) {
        List<PermitRequest> first = new ArrayList<>();
        for (PermitRequest head : heads()) {
            int seen = 0;
            for (PermitRequest each = head; each != null && seen < most; each = each.next, seen++) {
                first.add(each);
            }
        }
        long now = System.nanoTime();
        first.sort(Comparator.comparingLong(each -> each.joinedAt - now));
        return first.subList(0, Math.min(most, first.size()));
    }

    private @Nullable PermitRequest[] heads() {
        return new PermitRequest[] {plain.peek(), keyed.peek(), holding.peek()};
    }

    /** The first request that is wanted. */
    Optional<PermitRequest> find(Predicate<PermitRequest> wanted) {
        for (PermitRequest head : heads()) {
            for (PermitRequest each = head; each != null; each = each.next) {
                if (wanted.test(each)) {
                    return Optional.of(each);
                }
            }
        }
        return Optional.empty();
    }

    private @Nullable KeyedPlace unlink(PermitRequest request) {
        KeyedPlace place = request.place();
        list(place).remove(request);
        if (place == null) {
            othersChanged();
        }
        request.queued(false);
        size--;
        return place;
    }

    private LinkedNodes<PermitRequest> list(@Nullable KeyedPlace place) {
        if (place == null) {
            return plain;
        }
        return place.held == null ? keyed : holding;
    }

    private void othersChanged() {
        if (turns != null) {
            turns.othersWait(plain.peek() != null);
        }
    }

    /** The highest of a number in the last one to two minutes. Noting a number costs a comparison. */
    static final class Peak {

        private static final long WINDOW_NANOS = TimeUnit.MINUTES.toNanos(1);

        private int present; // in the window that lasts since the last reading that began one
        private int before; // in the window before
        private long since;

        Peak(long now) {
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
            if (now - since >= WINDOW_NANOS) {
                before = present;
                present = number;
                since = now;
            }
            return Math.max(before, present);
        }
    }
}
