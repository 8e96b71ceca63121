package io.github.virtualthread.test;

import io.github.virtualthread.cluster.ClusterStore;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A store in memory, for tests. Its time stands still until a test lets it pass; it fails and loses its texts when it is told to. */
public final class MemoryStore implements ClusterStore, ClusterStore.Session {

    private final Map<String, Text> texts = new HashMap<>();
    private long now = 1_000_000_000;
    private int restarts;
    private boolean isShared;
    private boolean fails;

    /** Creates a store without texts. No other process can have reached it, so a new limit lends at once. */
    public MemoryStore() {}

    @Override
    public synchronized Session open() throws IOException {
        if (fails) {
            throw new IOException("store down");
        }
        return this;
    }

    @Override
    public synchronized Snapshot read(List<String> limits) {
        Map<String, Text> found = new HashMap<>(texts);
        found.keySet().retainAll(limits);
        return new Snapshot(now, "memory-" + restarts, isShared, found);
    }

    @Override
    public synchronized Map<String, String> replace(Map<String, Text> replacements) {
        Map<String, String> failed = new HashMap<>();
        replacements.forEach((limit, text) -> {
            long version = texts.getOrDefault(limit, new Text(0, "")).version();
            if (version == text.version()) {
                texts.put(limit, new Text(version + 1, text.text()));
            } else {
                failed.put(limit, "");
            }
        });
        return failed;
    }

    @Override
    public void close() {}

    /**
     * Lets time pass.
     *
     * @param duration how much; if negative, the clock steps back
     */
    public synchronized void pass(Duration duration) {
        now += duration.toMillis();
    }

    /** From now on, no session can be opened. */
    public synchronized void fail() {
        fails = true;
    }

    /** From now on, sessions can be opened. */
    public synchronized void heal() {
        fails = false;
    }

    /** Forgets all texts, as a server that restarts empty: from now on a limit without a text may be one whose data were lost. */
    public synchronized void loseData() {
        isShared = true;
        texts.clear();
    }

    /** From now on, another server process has the texts, as after a failover. */
    public synchronized void restart() {
        restarts++;
    }

    /**
     * Returns what goes back to the texts of now, as a failover does that loses the last writes.
     *
     * @return puts the texts of now back
     */
    public synchronized Runnable backup() {
        Map<String, Text> backup = Map.copyOf(texts);
        return () -> restore(backup);
    }

    private synchronized void restore(Map<String, Text> backup) {
        texts.clear();
        texts.putAll(backup);
    }
}
