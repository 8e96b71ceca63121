package io.github.virtualthread.cluster;

import static io.github.virtualthread.cluster.TestClaims.goodbye;

import io.github.virtualthread.test.MemoryStore;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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

        /** Fails, hangs, or returns: then the exchange goes on. */
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

        /** Waits for one exchange more than at the last call to arrive. */
        public void awaitArrival() throws InterruptedException {
            arrivals.acquire();
        }

        /** Lets all exchanges through, from now on. */
        public void open() {
            open.countDown();
        }
    }

    private final MemoryStore store = new MemoryStore();
    private final StoredLimits limits = new StoredLimits(store);
    private final List<List<Claim>> exchanges = new ArrayList<>();
    private volatile Fault before = Fault.NONE;

    /** Its data may be lost, as those of a server: a new limit may be an old one without data. */
    public MemoryEngine() {
        this(true);
    }

    public MemoryEngine(boolean mayBeLost) {
        if (mayBeLost) {
            store.loseData();
        }
    }

    @Override
    public List<Answer> exchange(List<Claim> claims) throws Exception {
        before.strike(claims);
        return stored(claims);
    }

    /** From now on, exchanges meet this before anything is stored. */
    public void before(Fault fault) {
        before = fault;
    }

    /** From now on, exchanges fail before anything is stored. */
    public void fail() {
        before(claims -> {
            throw new IOException("engine down");
        });
    }

    /** From now on, exchanges hang before anything is stored. Returns where. */
    public Gate hang() {
        Gate gate = new Gate();
        before(gate);
        return gate;
    }

    /** From now on, exchanges are answered. Those that hang still do. */
    public void heal() {
        before(Fault.NONE);
    }

    /** Lets time pass; if negative, the clock steps back. */
    public void pass(Duration duration) {
        store.pass(duration);
    }

    /** Forgets all, as a server that restarts empty. */
    public void loseData() {
        store.loseData();
    }

    /** From now on, another server process has the data, as after a failover. */
    public void restart() {
        store.restart();
    }

    /** Returns what goes back to the data of now, as a failover does that loses the last writes. */
    public Runnable backup() {
        return store.backup();
    }

    /** The answer to one claim, which no fault meets. */
    public synchronized Answer answer(Claim claim) {
        try {
            return limits.exchange(List.of(claim)).getFirst();
        } catch (Exception impossible) {
            throw new AssertionError(impossible);
        }
    }

    /** Members that live now, in the order of their names. */
    public List<Answer.Other> members(String limit) {
        return answer(goodbye(limit, "", 1)).others();
    }

    /** Number of permits of a limit that are lent now, to all members. */
    public int lent(String limit) {
        return members(limit).stream().mapToInt(Answer.Other::holds).sum();
    }

    /** All exchanges that were stored, in their order; also claims that were refused. */
    public synchronized List<List<Claim>> exchanges() {
        return List.copyOf(exchanges);
    }

    private synchronized List<Answer> stored(List<Claim> claims) throws Exception {
        exchanges.add(List.copyOf(claims));
        return limits.exchange(claims);
    }
}
