package io.github.virtualthread.sample.lab.experiment;

import java.io.EOFException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.ReentrantLock;

/** What replicas in other JVMs call over TCP. Each call takes the same time, and the partner itself counts how many it serves. */
final class CountingPartner implements AutoCloseable {

    private static final int CALL = 1;
    private static final int DONE = 2;
    private static final int BACKLOG = 1_000;

    private final Duration work;
    private final ServerSocket server;
    private final Set<Socket> connections = ConcurrentHashMap.newKeySet();
    private final ReentrantLock lock = new ReentrantLock();
    private int inside;
    private int most;
    private long done;
    private double spent; // seconds of all calls together
    private long since = System.nanoTime();

    private CountingPartner(Duration work, ServerSocket server) {
        this.work = work;
        this.server = server;
    }

    /** Opens one on a port that is free. */
    static CountingPartner open(Duration work) throws IOException {
        CountingPartner partner =
                new CountingPartner(work, new ServerSocket(0, BACKLOG, InetAddress.getLoopbackAddress()));
        Thread.ofVirtual().name("lab-partner").start(partner::accept);
        return partner;
    }

    int port() {
        return server.getLocalPort();
    }

    @SuppressWarnings("EmptyCatch")
    private void accept() {
        try {
            while (true) {
                Socket connection = server.accept();
                connections.add(connection);
                Thread.ofVirtual().name("lab-partner-call").start(() -> serve(connection));
            }
        } catch (IOException closed) {
            // nobody calls any more
        }
    }

    /** A call that has begun is done, also if its caller was killed meanwhile. */
    @SuppressWarnings("EmptyCatch")
    private void serve(Socket connection) {
        try (connection) {
            while (connection.getInputStream().read() == CALL) {
                count(1);
                try {
                    Thread.sleep(work);
                } finally {
                    count(-1);
                }
                connection.getOutputStream().write(DONE);
            }
        } catch (IOException | InterruptedException gone) {
            // the caller, or this partner
        } finally {
            connections.remove(connection);
        }
    }

    private void count(int change) {
        lock.lock();
        try {
            long now = System.nanoTime();
            spent += inside * ((now - since) / 1e9);
            since = now;
            inside += change;
            most = Math.max(most, inside);
            done += change < 0 ? 1 : 0;
        } finally {
            lock.unlock();
        }
    }

    /** So many calls are in it now. */
    int inside() {
        return look().inside();
    }

    /** As {@link #look}; the most at once is counted from now on. */
    Count begin() {
        lock.lock();
        try {
            most = inside;
        } finally {
            lock.unlock();
        }
        return look();
    }

    /** All it has counted so far. */
    Count look() {
        count(0);
        lock.lock();
        try {
            return new Count(inside, most, done, spent, since);
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        for (Socket connection : connections) {
            connection.close();
        }
    }

    /**
     * What was counted until then.
     *
     * @param most most at once
     * @param spent seconds that all calls took together
     * @param at time of {@link System#nanoTime}
     */
    record Count(int inside, int most, long done, double spent, long at) {

        double seconds(Count before) {
            return (at - before.at) / 1e9;
        }

        /** How many calls were in it, on the average. */
        double mean(Count before) {
            return (spent - before.spent) / seconds(before);
        }

        double rate(Count before) {
            return (done - before.done) / seconds(before);
        }
    }

    /** In the JVM of a replica: calls the partner, each call on a connection of its own. */
    static final class Client {

        private final InetSocketAddress address;
        private final Queue<Socket> idle = new ConcurrentLinkedQueue<>();

        Client(int port) {
            this.address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        }

        /** Blocks until the partner is done. */
        void call() {
            Socket connection = idle.poll();
            try {
                if (connection == null) {
                    connection = new Socket(address.getAddress(), address.getPort());
                    connection.setTcpNoDelay(true);
                }
                connection.getOutputStream().write(CALL);
                if (connection.getInputStream().read() != DONE) {
                    throw new EOFException("The partner has gone");
                }
                idle.add(connection);
            } catch (IOException failure) {
                throw new UncheckedIOException(failure);
            }
        }
    }
}
