package io.github.virtualthread.limit;

import io.github.virtualthread.limit.TaskLimit.KeyUse;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Keys take turns. Each key has a line of waiting requests; the lines whose next request may run form a ring. Requests without a
 * key are one line of the ring. A key is known only while it has requests that wait or run. What ends or leaves needs no memory.
 *
 * <p>Everything needs the lock of the limit, but for what operators read: that looks at all keys, and there may be very many.
 */
final class KeyTurns {

    /** A map that has held more keys than this is not kept when it is empty. */
    private static final int KEYS_OF_A_LARGE_MAP = 64;

    private static final Comparator<KeyUse> FEWEST_CALLS =
            Comparator.comparingLong(use -> (long) use.running() + use.waiting());

    private final Line others = new Line(null); // its requests are in the queue of the limit
    private volatile @Nullable Map<String, Line> lines;
    private boolean large;
    private final LinkedNodes<Line> ring = new LinkedNodes<>();
    private final Lines newLines;
    private volatile int permitsPerKey;
    private int blocked;

    KeyTurns(int permitsPerKey, Lines newLines) {
        this.permitsPerKey = permitsPerKey;
        this.newLines = newLines;
    }

    /** Makes the lines of keys. */
    interface Lines {

        Line line(String key, @Nullable Double weight);
    }

    /** Looks at all keys, if the number is another one. */
    void setPermitsPerKey(int permitsPerKey) {
        if (permitsPerKey != this.permitsPerKey) {
            this.permitsPerKey = permitsPerKey;
            lines().values().forEach(this::place);
        }
    }

    /** Sets the weights of these keys, as far as they are known. */
    void setWeights(Map<String, Double> weights) {
        weights.forEach((key, weight) -> {
            Line line = lines().get(key);
            if (line != null) {
                line.setWeight(weight);
            }
        });
    }

    /** The weight of a key that has requests; null if it has none, or if all keys are equal. Needs no lock. */
    @Nullable
    Double weight(String key) {
        Line line = lines().get(key);
        return line == null ? null : line.weight();
    }

    /** A request comes. All that follows needs no memory. */
    void arrive(KeyedPlace place, String key, @Nullable Double weight) {
        Map<String, Line> known = lines;
        if (known == null) {
            known = new ConcurrentHashMap<>();
            lines = known;
        }
        Line line = known.get(key);
        if (line == null) {
            line = newLines.line(key, weight);
            known.put(key, line);
        }
        large |= known.size() > KEYS_OF_A_LARGE_MAP;
        line.arrived++;
        place.line = line;
    }

    /** Whether one more request of the key may run. */
    boolean mayRun(Line line) {
        return line.running < permitsPerKey;
    }

    /** A request that has arrived waits in the line of its key. */
    void join(PermitRequest request, KeyedPlace place, Line line) {
        line.arrived--;
        place.request = request;
        line.add(place);
        place(line);
    }

    /** A request goes away without a permit. */
    void leave(KeyedPlace place) {
        Line line = place.line;
        if (line != null) {
            place.line = null;
            line.remove(place);
            place(line);
        }
    }

    /** A request gets its permit. Its key has its next turn after all others, unless that was not all of this turn. */
    void grant(KeyedPlace place) {
        Line line = place.line;
        if (line != null) {
            boolean goesOn = place.request != null && line.goesOn();
            line.remove(place);
            line.running++;
            if (!goesOn) {
                unlink(line);
            }
            place(line);
        }
    }

    /** A request gives its permit back. */
    void end(KeyedPlace place) {
        Line line = place.line;
        if (line != null) {
            line.running--;
            place(line);
        }
    }

    /** Requests without a key wait now, or do not. */
    void othersWait(boolean anybody) {
        others.waiting = anybody ? 1 : 0;
        place(others);
    }

    /** A request without a key gets its permit. */
    void grantOther() {
        unlink(others);
        place(others);
    }

    /** Whether one of the lines may go. */
    boolean isAnyReady() {
        return ring.peek() != null;
    }

    /** Whether it is the turn of requests without a key. */
    boolean isTurnOfOthers() {
        return others.equals(first());
    }

    /** The line whose turn it is. */
    private @Nullable Line first() {
        Line first = ring.peek();
        while (first != null && !first.hasTurn()) {
            ring.remove(first);
            ring.add(first);
            first = ring.peek();
        }
        return first;
    }

    /** The request whose turn it is, if that has a key. */
    @Nullable
    PermitRequest next() {
        Line first = first();
        KeyedPlace place = first == null ? null : first.places.peek();
        return place == null ? null : place.request;
    }

    /** How many wait that their key would not let run, even if there were permits. */
    int blocked() {
        return blocked;
    }

    /** Needs no lock, as all up to {@link #busiest}. */
    int keys() {
        return lines().size();
    }

    int full() {
        return (int) lines().values().stream()
                .filter(line -> line.waits() > 0 && !mayRun(line))
                .count();
    }

    int mostWaiting() {
        return lines().values().stream().mapToInt(Line::waits).max().orElse(0);
    }

    KeyUse use(String key) {
        Line line = lines().get(key);
        return line == null ? new KeyUse(key, 0, 0) : line.use(key);
    }

    List<KeyUse> busiest(int most) {
        PriorityQueue<KeyUse> busiest = new PriorityQueue<>(FEWEST_CALLS);
        lines().forEach((key, line) -> {
            busiest.add(line.use(key));
            if (busiest.size() > most) {
                busiest.remove();
            }
        });
        return busiest.stream().sorted(FEWEST_CALLS.reversed()).toList();
    }

    private Map<String, Line> lines() {
        Map<String, Line> known = lines;
        return known == null ? Map.of() : known;
    }

    private void unlink(Line line) {
        if (ring.contains(line)) {
            ring.remove(line);
        }
    }

    /** A line is in the ring while its next request may run, and is known while it has requests. */
    private void place(Line line) {
        int before = line.blocked;
        line.blocked = line.key == null ? 0 : Math.max(0, line.waiting - Math.max(0, permitsPerKey - line.running));
        blocked += line.blocked - before;
        boolean ready = line.waiting > 0 && mayRun(line);
        if (!ready) {
            unlink(line);
        } else if (!ring.contains(line)) {
            ring.add(line);
        }
        if (line.waiting == 0) {
            line.emptied();
        }
        if (line.key != null && line.arrived + line.waiting + line.running == 0) {
            forget(line.key);
        }
    }

    private void forget(String key) {
        Map<String, Line> known = lines();
        try {
            known.remove(key);
        } catch (OutOfMemoryError shortage) {
            return; // keys whose hashes collide are kept as a tree, which may need memory to shrink: it stays for its
            // next call
        }
        if (large && known.isEmpty()) {
            lines = null;
            large = false;
        }
    }

    /** The requests of one key, first in, first out. */
    static class Line extends LinkedNodes.Node<Line> {

        private final @Nullable String key;
        private int arrived; // wait outside of this line, as they hold a permit of a limit around, or have just come
        private int waiting; // in this line
        private int running;
        private int blocked; // of those that wait
        private final LinkedNodes<KeyedPlace> places = new LinkedNodes<>();

        Line(@Nullable String key) {
            this.key = key;
        }

        @Nullable
        Double weight() {
            return null;
        }

        void setWeight(double weight) {}

        /** How many requests may wait, of a number that is meant for a key of weight 1. */
        int share(int number) {
            return number;
        }

        /** It is the first of the ring: returns whether its next request may go. */
        boolean hasTurn() {
            return true;
        }

        /** One of its requests goes in its turn: returns whether the next one goes in the same turn. */
        boolean goesOn() {
            return false;
        }

        /** None of its requests waits. */
        void emptied() {}

        KeyUse use(String name) {
            return new KeyUse(name, running, waits());
        }

        int waits() {
            return waiting + arrived;
        }

        void add(KeyedPlace place) {
            waiting++;
            places.add(place);
        }

        void remove(KeyedPlace place) {
            if (place.request == null) {
                arrived--;
            } else {
                waiting--;
                places.remove(place);
                place.request = null;
            }
        }
    }
}
