package io.github.virtualthread.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;

/**
 * An engine in memory, for tests: its time stands still until a test lets it pass, and it fails, hangs and loses data when it is
 * told to.
 */
public final class MemoryEngine implements ClusterEngine {

    /** What happens to an exchange. */
    @FunctionalInterface
    public interface Fault {

        /** Nothing happens. */
        Fault NONE = claims -> {};

        /**
         * Fails, hangs, or returns: then the exchange goes on.
         *
         * @param claims the claims of the exchange
         */
        void strike(List<Claim> claims) throws Exception;
    }

    /** Exchanges wait here until it is opened, or until they are interrupted. */
    public static final class Gate implements Fault {

        private final Semaphore arrivals = new Semaphore(0);
        private final CountDownLatch open = new CountDownLatch(1);

        @Override
        public void strike(List<Claim> claims) throws InterruptedException {
            arrivals.release();
            open.await();
        }

        /** Waits for one exchange more than at the last call to arrive. */
        public void awaitArrival() throws InterruptedException {
            arrivals.acquire();
        }

        /** Lets all exchanges through, from now on. */
        public void open() {
            open.countDown();
        }
    }

    private record Row(int holds, int wants, int permits, long over, long number) {}

    private static final class Stored {

        final String epoch;
        final Map<String, Row> rows = new TreeMap<>();
        long noGrowthUntil;

        Stored(String epoch) {
            this.epoch = epoch;
        }

        Stored copy() {
            Stored copy = new Stored(epoch);
            copy.rows.putAll(rows);
            copy.noGrowthUntil = noGrowthUntil;
            return copy;
        }
    }

    private final Map<String, Stored> limits = new HashMap<>();
    private final List<List<Claim>> exchanges = new ArrayList<>();
    private long now = 1_000_000;
    private int epochs;
    private volatile Fault before = Fault.NONE;
    private volatile Fault after = Fault.NONE;

    @Override
    public List<Answer> exchange(List<Claim> claims) throws Exception {
        before.strike(claims);
        List<Answer> answers = stored(claims);
        after.strike(claims);
        return answers;
    }

    /** From now on, exchanges meet this before anything is stored. */
    public void before(Fault fault) {
        before = fault;
    }

    /** From now on, exchanges meet this after all is stored: the claim comes, the answer does not. */
    public void after(Fault fault) {
        after = fault;
    }

    /** From now on, exchanges fail before anything is stored. */
    public void fail() {
        before(claims -> {
            throw new IOException("engine down");
        });
    }

    /** From now on, exchanges hang before anything is stored. */
    public Gate hang() {
        Gate gate = new Gate();
        before(gate);
        return gate;
    }

    /** From now on, exchanges are answered. Those that hang still do. */
    public void heal() {
        before(Fault.NONE);
        after(Fault.NONE);
    }

    /** Lets time pass; if negative, the clock jumps back. */
    public synchronized void pass(Duration duration) {
        now += duration.toMillis();
    }

    /** Time of this engine, in milliseconds. */
    public synchronized long now() {
        return now;
    }

    /** Forgets all, as a server that restarts empty. */
    public synchronized void loseData() {
        limits.clear();
    }

    /** Returns what goes back to the data of now, as a failover does that loses the last writes. */
    public synchronized Runnable backup() {
        Map<String, Stored> backup = new HashMap<>();
        limits.forEach((limit, stored) -> backup.put(limit, stored.copy()));
        return () -> restore(backup);
    }

    private synchronized void restore(Map<String, Stored> backup) {
        limits.clear();
        backup.forEach((limit, stored) -> limits.put(limit, stored.copy()));
    }

    /** Members that live now, by their names. */
    public synchronized List<Answer.Other> members(String limit) {
        Stored stored = limits.get(limit);
        List<Answer.Other> members = new ArrayList<>();
        if (stored != null) {
            stored.rows.forEach((member, row) -> {
                if (row.over > now) {
                    members.add(new Answer.Other(member, row.holds, row.wants, row.permits));
                }
            });
        }
        return members;
    }

    /** Number of permits of a limit that are lent now. */
    public int lent(String limit) {
        return members(limit).stream().mapToInt(Answer.Other::holds).sum();
    }

    /** All exchanges that were stored, in their order. */
    public synchronized List<List<Claim>> exchanges() {
        return List.copyOf(exchanges);
    }

    private synchronized List<Answer> stored(List<Claim> claims) {
        for (Claim claim : claims) {
            Stored stored = limits.get(claim.limit());
            Row last = stored == null ? null : stored.rows.get(claim.member());
            if (last != null && last.over > now && claim.number() <= last.number) {
                throw new IllegalStateException("claim " + claim.number() + " of member " + claim.member()
                        + " for limit " + claim.limit() + " is late: " + last.number + " came before it");
            }
        }
        exchanges.add(List.copyOf(claims));
        return claims.stream().map(this::answer).toList();
    }

    private Answer answer(Claim claim) {
        long over = now + claim.lease().toMillis();
        Stored stored = limits.computeIfAbsent(claim.limit(), limit -> new Stored("epoch-" + ++epochs));
        if (!claim.epoch().isEmpty() && !claim.epoch().equals(stored.epoch)) {
            stored.noGrowthUntil = Math.max(stored.noGrowthUntil, over);
        }
        stored.rows.values().removeIf(row -> row.over <= now);
        stored.rows.remove(claim.member());
        List<Answer.Other> others = members(claim.limit());
        int permits = claim.permits();
        int free = 0;
        for (Answer.Other other : others) {
            permits = Math.min(permits, other.permits());
            free -= other.holds();
        }
        free += permits;
        int share = claim.holds();
        if (now >= stored.noGrowthUntil) {
            share = Math.max(share, Math.min(claim.asks(), free));
        }
        if (over > now) {
            stored.rows.put(claim.member(), new Row(share, claim.wants(), claim.permits(), over, claim.number()));
        }
        return new Answer(share, permits, stored.epoch, now, others);
    }
}
