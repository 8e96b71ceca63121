package io.github.virtualthread.sample.lab.experiment;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.IntConsumer;

/**
 * Users of a web server on this machine, each with a connection of its own. All of them are driven by one thread of the platform:
 * a generator on virtual threads would compete with a server on virtual threads for the carriers, and with no other.
 */
final class WebUsers implements Callable<WebUsers.Spent> {

    private static final Duration NEVER = Duration.ofDays(1);
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final Load load;
    private final Outcomes outcomes;
    private final IntConsumer gone;
    private final List<WebUser> users = new ArrayList<>();
    private final Queue<Asked> asked =
            new ArrayDeque<>(); // in the order of their time-outs, since all may take as long
    private final Queue<Away> away = new ArrayDeque<>(); // in the order in which they come back, likewise
    private int sent;
    private int open;
    private long begin;

    private WebUsers(Load load, Outcomes outcomes, IntConsumer gone) {
        this.load = load;
        this.outcomes = outcomes;
        this.gone = gone;
    }

    /**
     * Lets users come, ask and go. Blocks until the last one is gone.
     *
     * @param gone is told the number of each request whose user waits no longer, on the generator's thread
     */
    static Spent ask(Load load, Outcomes outcomes, IntConsumer gone) throws Exception {
        FutureTask<Spent> task = new FutureTask<>(new WebUsers(load, outcomes, gone));
        Thread thread = Thread.ofPlatform().daemon().name("lab-users").start(task);
        try {
            return task.get();
        } catch (ExecutionException failure) {
            throw failure.getCause() instanceof Exception cause ? cause : failure;
        } finally {
            thread.interrupt();
            thread.join();
        }
    }

    @Override
    public Spent call() throws IOException {
        long processorBefore = THREADS.getCurrentThreadCpuTime();
        begin = System.nanoTime();
        try (Selector selector = Selector.open()) {
            while (!Thread.currentThread().isInterrupted() && (open > 0 || users.size() < load.users())) {
                long now = System.nanoTime();
                letUsersCome(selector, now);
                letUsersComeBack(selector, now);
                expire(selector, now);
                if (open > 0 || users.size() < load.users()) {
                    selector.select(this::ready, 1);
                }
            }
        } finally {
            users.forEach(WebUser::close);
        }
        long nanos = System.nanoTime() - begin;
        return new Spent(nanos / 1e9, (THREADS.getCurrentThreadCpuTime() - processorBefore) / (double) nanos);
    }

    private void letUsersCome(Selector selector, long now) {
        while (users.size() < load.users() && begin + load.rampUp().toNanos() * users.size() / load.users() <= now) {
            WebUser user = new WebUser(new InetSocketAddress(InetAddress.getLoopbackAddress(), load.port()));
            users.add(user);
            open++;
            next(user, selector, true);
        }
    }

    private void letUsersComeBack(Selector selector, long now) {
        while (!away.isEmpty() && away.peek().until() - now <= 0) {
            next(away.remove().user(), selector, false);
        }
    }

    /** Lets a user ask, or go. */
    private void next(WebUser user, Selector selector, boolean first) {
        long now = System.nanoTime();
        if (sent >= load.requests() || !(first || load.isAskedAgain(begin, now))) {
            leave(user);
            return;
        }
        int number = sent++;
        asked.add(new Asked(user, number, load.deadline(begin, now)));
        outcomes.asked();
        try {
            user.ask(number, load.path(), selector, now);
        } catch (IOException refused) {
            fail(user);
        }
    }

    private void ready(SelectionKey key) {
        WebUser user = (WebUser) key.attachment();
        try {
            WebUser.State state = user.goOn(key);
            if (state == WebUser.State.REFUSED) {
                fail(user);
            } else if (state == WebUser.State.REJECTED) {
                rejected(user);
            } else if (state == WebUser.State.ANSWERED) {
                answered(user, key.selector());
            }
        } catch (IOException failure) {
            fail(user);
        }
    }

    private void answered(WebUser user, Selector selector) {
        long now = System.nanoTime();
        if (load.deadline(begin, user.askedAt()) - now < 0) {
            timeOut(user, selector); // the answer was read before it was missed
            return;
        }
        outcomes.answered(now - user.askedAt());
        gone.accept(user.endRequest());
        next(user, selector, false);
    }

    /** Tomcat closes the connection of a request that it answers by 503. */
    private void rejected(WebUser user) {
        long now = System.nanoTime();
        outcomes.rejected(now - user.askedAt());
        long back = now + load.pause().toNanos();
        if (!load.pause().isPositive() || !load.isAskedAgain(begin, back)) {
            end(user);
            return;
        }
        gone.accept(user.endRequest());
        user.close();
        away.add(new Away(user, back));
    }

    /** One who was not served does not come again: a server that is down would be asked without end. */
    private void fail(WebUser user) {
        outcomes.failed();
        end(user);
    }

    private void end(WebUser user) {
        gone.accept(user.endRequest());
        leave(user);
    }

    private void expire(Selector selector, long now) {
        for (Asked oldest = asked.peek(); oldest != null; oldest = asked.peek()) {
            boolean waits = oldest.user().waitsFor(oldest.number());
            if (waits && oldest.deadline() - now > 0) {
                return;
            }
            asked.remove();
            if (waits) {
                timeOut(oldest.user(), selector);
            }
        }
    }

    private void timeOut(WebUser user, Selector selector) {
        outcomes.timedOut();
        gone.accept(user.endRequest());
        user.close();
        next(user, selector, false);
    }

    private void leave(WebUser user) {
        open--;
        user.close();
    }

    /** Counts what becomes of the requests; each is told once, on the generator's thread. */
    interface Outcomes {

        /** A request is sent. */
        default void asked() {}

        /** An answer in time, so long after the user has asked. */
        void answered(long nanoseconds);

        /** The server was too busy: status 503, so long after the user has asked. */
        void rejected(long nanoseconds);

        /** Any other answer, or none. */
        void failed();

        /** The user waits no longer. */
        void timedOut();
    }

    /**
     * What users do.
     *
     * @param rampUp time in which they come, one after the other
     * @param loop how long, after all have come, they ask again when they are answered; zero for once
     * @param requests most requests of all users together
     * @param timeout longest that a user waits for an answer
     * @param end after which nobody waits, counted from the begin: who does then has waited in vain
     * @param pause after which a user whose request was rejected asks again, in the time of the loop; zero for never
     */
    record Load(
            int port,
            String path,
            int users,
            Duration rampUp,
            Duration loop,
            int requests,
            Duration timeout,
            Duration end,
            Duration pause) {

        /** Without an end for all. Who is rejected does not come back. */
        Load(int port, String path, int users, Duration rampUp, Duration loop, int requests, Duration timeout) {
            this(port, path, users, rampUp, loop, requests, timeout, NEVER);
        }

        /** Who is rejected does not come back. */
        Load(
                int port,
                String path,
                int users,
                Duration rampUp,
                Duration loop,
                int requests,
                Duration timeout,
                Duration end) {
            this(port, path, users, rampUp, loop, requests, timeout, end, Duration.ZERO);
        }

        /** Of users who come at once and ask again and again, until the server is warm. */
        static Load warmUp(int port, String path, int users, Duration loop) {
            return new Load(port, path, users, Duration.ZERO, loop, Integer.MAX_VALUE, Duration.ofSeconds(10));
        }

        private boolean isAskedAgain(long begin, long time) {
            return loop.isPositive() && time - begin < rampUp.plus(loop).toNanos();
        }

        private long deadline(long begin, long now) {
            return begin + Math.min(now - begin + timeout.toNanos(), end.toNanos());
        }
    }

    /**
     * What it took.
     *
     * @param busy part of the time for which the generator's thread had the processor
     */
    record Spent(double seconds, double busy) {}

    private record Asked(WebUser user, int number, long deadline) {}

    private record Away(WebUser user, long until) {}
}
