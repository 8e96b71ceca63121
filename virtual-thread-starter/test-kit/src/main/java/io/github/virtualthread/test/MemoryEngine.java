package io.github.virtualthread.test;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.LimitLedger;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
         * @throws Exception what the exchange fails with
         */
        void strike(List<Claim> claims) throws Exception;
    }

    /** Exchanges wait here until it is opened, or until they are interrupted. */
    public static final class Gate implements Fault {

        private final Semaphore arrivals = new Semaphore(0);
        private final CountDownLatch open = new CountDownLatch(1);

        private Gate() {}

        @Override
        public void strike(List<Claim> claims) throws InterruptedException {
            arrivals.release();
            open.await();
        }

        /**
         * Waits for one exchange more than at the last call to arrive.
         *
         * @throws InterruptedException if the thread was interrupted
         */
        public void awaitArrival() throws InterruptedException {
            arrivals.acquire();
        }

        /** Lets all exchanges through, from now on. */
        public void open() {
            open.countDown();
        }
    }

    private boolean mayBeLost;
    private final Map<String, String> limits = new HashMap<>(); // texts of ledgers
    private final List<List<Claim>> exchanges = new ArrayList<>();
    private long now = 1_000_000_000;
    private int restarts;
    private volatile Fault before = Fault.NONE;
    private volatile Fault after = Fault.NONE;

    /** Creates an engine whose data may be lost, as those of a server: a new limit may be an old one without data. */
    public MemoryEngine() {
        this(true);
    }

    /**
     * Creates an engine.
     *
     * @param mayBeLost whether no share of a new limit grows for the time of a lease; true from {@link #loseData()} on
     */
    public MemoryEngine(boolean mayBeLost) {
        this.mayBeLost = mayBeLost;
    }

    @Override
    public List<Answer> exchange(List<Claim> claims) throws Exception {
        before.strike(claims);
        List<Answer> answers = stored(claims);
        after.strike(claims);
        return answers;
    }

    /**
     * From now on, exchanges meet this before anything is stored.
     *
     * @param fault what they meet
     */
    public void before(Fault fault) {
        before = fault;
    }

    /**
     * From now on, exchanges meet this after all is stored: the claim comes, the answer does not.
     *
     * @param fault what they meet
     */
    public void after(Fault fault) {
        after = fault;
    }

    /** From now on, exchanges fail before anything is stored. */
    public void fail() {
        before(claims -> {
            throw new IOException("engine down");
        });
    }

    /**
     * From now on, exchanges hang before anything is stored.
     *
     * @return where they hang
     */
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

    /**
     * Lets time pass.
     *
     * @param duration how much; if negative, the clock jumps back
     */
    public synchronized void pass(Duration duration) {
        now += duration.toMillis();
    }

    /**
     * Time of this engine.
     *
     * @return milliseconds
     */
    public synchronized long now() {
        return now;
    }

    /** Forgets all, as a server that restarts empty. */
    public synchronized void loseData() {
        mayBeLost = true;
        limits.clear();
    }

    /** From now on, another server process has the data, as after a failover. */
    public synchronized void restart() {
        restarts++;
    }

    /**
     * Returns what goes back to the data of now, as a failover does that loses the last writes.
     *
     * @return puts the data of now back
     */
    public synchronized Runnable backup() {
        Map<String, String> backup = Map.copyOf(limits);
        return () -> restore(backup);
    }

    private synchronized void restore(Map<String, String> backup) {
        limits.clear();
        limits.putAll(backup);
    }

    /**
     * Members that live now.
     *
     * @param limit name of the limit
     * @return in the order of their names
     */
    public synchronized List<Answer.Other> members(String limit) {
        if (!limits.containsKey(limit)) {
            return List.of();
        }
        Claim look = new Claim(
                limit,
                "",
                1,
                0,
                Duration.ZERO,
                Duration.ZERO,
                Integer.MAX_VALUE,
                0,
                0,
                0,
                0,
                Duration.ZERO,
                Duration.ZERO);
        return ledger(limit).lend(look, now, server(), Duration.ZERO).others();
    }

    /**
     * Number of permits of a limit that are lent now.
     *
     * @param limit name of the limit
     * @return of all members
     */
    public int lent(String limit) {
        return members(limit).stream().mapToInt(Answer.Other::holds).sum();
    }

    /**
     * All exchanges that were stored; also claims that were refused.
     *
     * @return in their order
     */
    public synchronized List<List<Claim>> exchanges() {
        return List.copyOf(exchanges);
    }

    private synchronized List<Answer> stored(List<Claim> claims) {
        exchanges.add(List.copyOf(claims));
        return claims.stream().map(this::answer).toList();
    }

    private Answer answer(Claim claim) {
        LimitLedger ledger = ledger(claim.limit());
        Answer answer = ledger.lend(claim, now, server(), Duration.ZERO);
        if (answer.refusal() == null && !ledger.isEmpty()) {
            limits.put(claim.limit(), ledger.text());
        } else if (answer.refusal() == null) {
            limits.remove(claim.limit());
        }
        return answer;
    }

    private LimitLedger ledger(String limit) {
        String text = limits.get(limit);
        return text == null ? new LimitLedger(mayBeLost) : LimitLedger.of(text);
    }

    private String server() {
        return "memory-" + restarts;
    }
}
