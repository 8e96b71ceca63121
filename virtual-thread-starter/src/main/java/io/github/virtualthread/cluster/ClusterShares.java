package io.github.virtualthread.cluster;

import io.github.virtualthread.Internal;
import io.github.virtualthread.limit.Durations;
import io.github.virtualthread.limit.ScopedLock;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.timer.TaskTimer;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The limits that this replica shares with the others: tells the engine at every beat what they hold and want, all in one exchange,
 * and at once if a call finds no permit. No caller waits for that, and no call talks to the engine.
 */
@Internal
public final class ClusterShares {

    private static final Logger logger = LoggerFactory.getLogger(TaskLimit.class);

    /** More go into several exchanges, one after the other: an engine may do nothing else meanwhile. */
    private static final int MOST_CLAIMS = 100;

    private static final long DEFAULT_BEAT = TimeUnit.MILLISECONDS.toNanos(100); // before the engine is known

    private static final String SILENCE = "does not answer";

    private final Supplier<ClusterEngine> engines;
    private final ClusterSettings settings;
    private final TaskTimer timer;
    private final LongSupplier clock;
    private final String member;
    private final List<ClusterShare> shares = new CopyOnWriteArrayList<>();
    private final List<Listener> listeners = new CopyOnWriteArrayList<>();
    private final AtomicInteger asked = new AtomicInteger(); // above 0 while a thread exchanges, or is about to
    private volatile boolean stopped;
    private volatile CompletableFuture<@Nullable Void> goodbye = new CompletableFuture<>();
    private volatile long beat;
    private final Exchanges exchanges = new Exchanges(() -> beat, this::ask);
    private final ScopedLock lock = new ScopedLock();
    private final AtomicReference<@Nullable Future<?>> next = new AtomicReference<>();
    private volatile @Nullable Thread exchanging; // if it is dead, it has not come to its end
    private @Nullable Thread present; // that waits for the engine; guarded by lock
    private long presentSince; // guarded by lock
    private final ReentrantLock noting = new ReentrantLock();
    private volatile boolean lost; // written under noting
    private volatile String problem = SILENCE; // of the last exchange

    /** Is notified how exchanges end. Must not block. */
    public interface Listener {

        /**
         * An exchange has ended.
         *
         * @param took how long it took
         * @param outcome how it ended
         */
        void exchanged(Duration took, Outcome outcome);

        /** The engine has not been reached for the time of a lease. */
        void lost();
    }

    /** How an exchange ends. */
    public enum Outcome {
        /** With an answer. */
        SUCCESS,
        /** With an exception. */
        ERROR,
        /** With an answer that came when its lease was over. */
        LATE
    }

    /**
     * Creates shares, without any limit yet.
     *
     * @param engines returns the engine; called at each exchange, and not before the first
     * @param settings how to share
     * @param timer keeps the beat
     */
    public ClusterShares(Supplier<ClusterEngine> engines, ClusterSettings settings, TaskTimer timer) {
        this(engines, settings, timer, new SuspendedClock());
    }

    ClusterShares(Supplier<ClusterEngine> engines, ClusterSettings settings, TaskTimer timer, LongSupplier clock) {
        this.engines = engines;
        this.settings = settings;
        this.timer = timer;
        this.clock = clock;
        this.member = (settings.member() == null ? hostName() : settings.member()) + "-" + random();
        this.beat = settings.beat() == null ? DEFAULT_BEAT : settings.beat().toNanos();
    }

    private static String hostName() {
        String known = System.getenv("HOSTNAME");
        try {
            return known == null || known.isBlank() ? InetAddress.getLocalHost().getHostName() : known;
        } catch (UnknownHostException none) {
            return "replica";
        }
    }

    /** Two replicas of one name would use the same permits. */
    private static String random() {
        return Integer.toString(ThreadLocalRandom.current().nextInt(36 * 36 * 36, 36 * 36 * 36 * 36), 36);
    }

    /**
     * Name of this replica, as others see it.
     *
     * @return never blank
     */
    public String member() {
        return member;
    }

    /**
     * Shares a limit from now on. Its calls wait until the engine has lent permits.
     *
     * @param limit limit with {@code clusterPermits}, which is not shared yet
     */
    public void add(TaskLimit limit) {
        ClusterShare share = new ClusterShare(limit, member, settings, clock, exchanges);
        if (lost) {
            share.beginAway();
        }
        shares.add(share);
        share.begin();
    }

    /**
     * Tells a listener about exchanges from now on.
     *
     * @param listener is notified
     */
    public void listen(Listener listener) {
        listeners.add(listener);
    }

    /** Begins to exchange, or begins again. Does not block. */
    public void start() {
        stopped = false;
        ask();
        beatLater(); // also where no thread could be had
    }

    /**
     * Gives all permits back, except those of calls that still run: these are free for others when the lease is over. Blocks until
     * the engine knows, for a second at most. Does nothing the second time.
     */
    public void stop() {
        if (stopped) {
            return;
        }
        CompletableFuture<@Nullable Void> said = new CompletableFuture<>();
        goodbye = said;
        stopped = true;
        try {
            exchangeSoon();
            said.get(1, TimeUnit.SECONDS);
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException | OutOfMemoryError notReached) {
            // the lease ends by itself
        } finally {
            said.complete(null); // nobody waits for it any more, and the client of the engine may be closed
            if (stopped) {
                interruptAfter(Long.MIN_VALUE);
            }
        }
    }

    /** Called by whoever finds no permit: neither blocks nor throws. */
    private void ask() {
        try {
            if (!stopped) {
                exchangeSoon();
            }
        } catch (OutOfMemoryError shortage) {
            // the next beat asks again
        }
    }

    private void exchangeSoon() {
        if (asked.getAndIncrement() == 0) {
            try {
                timer.handOff(this::exchangeWhileAsked);
            } catch (Throwable shortage) {
                asked.set(0);
                throw shortage;
            }
        }
    }

    private void exchangeWhileAsked() {
        if (next.get() == null) {
            beatLater(); // a call before the start has asked, which the engine may wait for
        }
        int seen;
        do {
            exchanging = Thread.currentThread();
            seen = asked.get();
            exchangeOnce();
            beatLater();
            exchanging = null;
        } while (asked.addAndGet(-seen) > 0);
    }

    /** Throws nothing: whatever goes wrong, the next beat asks again. */
    private void exchangeOnce() {
        boolean leaves = stopped;
        if (leaves && goodbye.isDone()) {
            return;
        }
        long sent = clock.getAsLong();
        List<ClusterShare> claiming = List.of();
        try {
            claiming = shares.stream()
                    .filter(leaves ? ClusterShare::isKnown : share -> share.untilClaim() <= 0)
                    .toList();
            for (int done = 0; done < claiming.size(); done += MOST_CLAIMS) {
                sent = clock.getAsLong();
                List<ClusterShare> some = claiming.subList(done, Math.min(claiming.size(), done + MOST_CLAIMS));
                report(sent, exchange(some, leaves, sent));
            }
        } catch (Throwable failure) {
            problem = "gives no answer (" + failure + ")";
            claiming.forEach(ClusterShare::failed);
            report(sent, Outcome.ERROR);
        }
        if (leaves) {
            goodbye.complete(null);
        } else {
            noteLost();
        }
    }

    /** A claim that is refused is as good as not answered; the others are. */
    private Outcome exchange(List<ClusterShare> claiming, boolean leaves, long sent) throws Exception {
        List<Claim> claims = claiming.stream()
                .map(leaves ? ClusterShare::goodbye : ClusterShare::claim)
                .toList();
        List<Answer> answers = exchange(claims, sent);
        Outcome outcome = Outcome.SUCCESS;
        String refusal = null;
        for (int i = 0; i < claims.size(); i++) {
            Answer answer = answers.get(i);
            ClusterShare share = claiming.get(i);
            boolean wasHeldUp = share.isHeldUp();
            if (answer.refusal() != null) {
                refusal = answer.refusal();
                share.failed();
            } else if (!share.answered(claims.get(i), answer, sent) && !leaves) {
                outcome = Outcome.LATE;
            } else if (share.isHeldUp() && !wasHeldUp) {
                reportHeldUp(answer, claims.get(i).limit());
            }
        }
        problem = refusal == null ? SILENCE : "refuses claims (" + refusal + ")";
        return refusal == null ? outcome : Outcome.ERROR;
    }

    private List<Answer> exchange(List<Claim> claims, long sent) throws Exception {
        setPresent(Thread.currentThread(), sent);
        try {
            ClusterEngine engine = engines.get();
            beat = (settings.beat() == null ? engine.beat() : settings.beat()).toNanos();
            List<Answer> answers = engine.exchange(claims);
            List<Answer> given = List.of();
            if (answers != null) {
                given = answers.stream().filter(Objects::nonNull).toList();
            }
            if (given.size() != claims.size()) {
                throw new IllegalStateException("%s has given %d answers to %d claims, but must answer each"
                        .formatted(engine, given.size(), claims.size()));
            }
            return given;
        } finally {
            setPresent(null, 0);
            Thread.interrupted(); // what was for the exchange must not reach what follows
        }
    }

    private void setPresent(@Nullable Thread thread, long begun) {
        try (ScopedLock held = lock.hold()) {
            present = thread;
            presentSince = begun;
        }
    }

    private void report(long sent, Outcome outcome) {
        Duration took = Duration.ofNanos(clock.getAsLong() - sent);
        listeners.forEach(listener -> safely(() -> listener.exchanged(took, outcome)));
    }

    /** On a thread of its own, at every beat, and when a lease is over or the engine should have answered. */
    private void beat() {
        shares.forEach(ClusterShare::look);
        // an exchange may hang for as long as the client of the engine lets it. Its answer would come too late
        interruptAfter(settings.lease().toNanos());
        noteLost();
        if (shares.stream().anyMatch(share -> share.untilClaim() <= 0)) {
            reviveExchanges();
            ask();
        }
        beatLater();
    }

    /** Where there is no memory to go on, the JVM may take the thread that exchanges off its stack, without its handlers. */
    private void reviveExchanges() {
        Thread thread = exchanging;
        if (thread != null && !thread.isAlive()) {
            exchanging = null;
            asked.set(0);
        }
    }

    /** Interrupts an exchange that has taken longer. */
    private void interruptAfter(long nanos) {
        try (ScopedLock held = lock.hold()) {
            if (present != null && clock.getAsLong() - presentSince > nanos) {
                present.interrupt();
            }
        }
    }

    private void beatLater() {
        try (ScopedLock held = lock.hold()) {
            long least = Math.max(1_000_000, present == null ? 0 : beat);
            long nanos = shares.stream()
                    .mapToLong(share -> Math.min(share.untilLook(), Math.max(least, share.untilClaim())))
                    .min()
                    .orElse(Long.MAX_VALUE);
            beatIn(nanos);
        } catch (OutOfMemoryError shortage) {
            // the beat that the timer has planned comes
        }
    }

    private void beatIn(long nanos) {
        Future<?> planned = stopped || nanos == Long.MAX_VALUE ? null : timer.schedule(this::beatSoon, nanos);
        Future<?> before = next.getAndSet(planned);
        if (before != null) {
            before.cancel(false);
        }
    }

    /** On the thread of the timer. First plans another beat, in case that this one cannot plan its next. */
    private void beatSoon() {
        if (!stopped) {
            beatIn(settings.lease().toNanos() / 3);
            timer.handOff(this::beat);
        }
    }

    /** Says once that the engine lends nothing, and once that it does again. Who says so is not waited for: the next beat looks. */
    private void noteLost() {
        if (noting.tryLock()) {
            try {
                boolean away = shares.stream().anyMatch(ClusterShare::isAway);
                if (away != lost) {
                    lost = away;
                    reportLost(away);
                }
            } finally {
                noting.unlock();
            }
        }
    }

    private void reportLost(boolean away) {
        if (away) {
            safely(() -> logger.warn(
                    "The engine that lends permits to all replicas {}: {}. Check the engine and the network; as soon"
                            + " as it answers, it lends permits again",
                    problem,
                    describe()));
            listeners.forEach(listener -> safely(listener::lost));
        } else {
            safely(() -> logger.info("The engine that lends permits to all replicas answers again: {}", describe()));
        }
    }

    private static void reportHeldUp(Answer answer, String limit) {
        safely(() -> logger.info(
                "Limit '{}' is lent no more permits for {}, because the engine may not know of all calls that run",
                limit,
                Durations.text(answer.noGrowthFor())));
    }

    /** No listener may end the exchanges. */
    private static void safely(Runnable notification) {
        try {
            notification.run();
        } catch (Throwable failure) {
            try {
                logger.error("An exchange of permits with other replicas could not be reported", failure);
            } catch (Throwable noLog) {
                // the exchanges go on
            }
        }
    }

    private String describe() {
        return shares.stream().map(ClusterShare::describe).sorted().collect(Collectors.joining("; "));
    }
}
