package io.github.virtualthread.cluster;

import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** What the replicas share: counts by itself how many calls it serves at once. A limit is known by its first letter. */
final class Resource implements AutoCloseable {

    private static final long PATIENCE = TimeUnit.MINUTES.toNanos(4);

    private final ServerSocket server;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<Character, Count> limits = new TreeMap<>(); // under the lock, as all that follows
    private int held = -1;

    /** Calls under one limit. */
    private static final class Count {
        final Map<Integer, Integer> running = new HashMap<>();
        final Map<Integer, Integer> begun = new TreeMap<>();
        int now;
        int most;

        void change(int replica, int by) {
            now += by;
            most = Math.max(most, now);
            running.merge(replica, by, Integer::sum);
            if (by > 0) {
                begun.merge(replica, 1, Integer::sum);
            }
        }

        @Override
        public String toString() {
            return "now " + now + ", most " + most + ", running " + running + ", begun " + begun;
        }
    }

    Resource() throws IOException {
        server = new ServerSocket(0, 1_000, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().name("resource").start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    private void accept() {
        try {
            while (true) {
                Socket connection = server.accept();
                Thread.ofVirtual().start(() -> serve(connection));
            }
        } catch (IOException closed) {
            // no more calls
        }
    }

    /** What has begun ends in its time, even if the replica is dead. */
    private void serve(Socket connection) {
        try (connection) {
            connection.setTcpNoDelay(true);
            DataInputStream in = new DataInputStream(connection.getInputStream());
            for (int replica = in.read(); replica >= 0; replica = in.read()) {
                char limit = (char) in.read();
                int millis = in.readUnsignedShort();
                Count count = read(() -> count(limit));
                change(count, replica, 1);
                Thread.sleep(millis);
                end(count, replica);
                connection.getOutputStream().write(1);
            }
        } catch (IOException | InterruptedException gone) {
            // so is the caller
        }
    }

    private void change(Count count, int replica, int by) {
        lock.lock();
        try {
            count.change(replica, by);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private Count count(char limit) {
        return limits.computeIfAbsent(limit, name -> new Count());
    }

    /** When it is released, and under the same lock: a call that runs while its replica is held does not end. */
    private void end(Count count, int replica) throws InterruptedException {
        lock.lock();
        try {
            while (held == replica) {
                changed.await();
            }
            change(count, replica, -1);
        } finally {
            lock.unlock();
        }
    }

    /** Calls of this replica do not end. */
    void hold(int replica) {
        lock.lock();
        try {
            held = replica;
        } finally {
            lock.unlock();
        }
    }

    void release() {
        hold(-1);
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Counts from nothing. */
    void reset() {
        lock.lock();
        try {
            limits.clear();
        } finally {
            lock.unlock();
        }
    }

    /** Forgets how many calls it has served at once. */
    void resetMost() {
        lock.lock();
        try {
            limits.values().forEach(count -> count.most = count.now);
        } finally {
            lock.unlock();
        }
    }

    int running(char limit) {
        return read(() -> count(limit).now);
    }

    int running(char limit, int replica) {
        return read(() -> count(limit).running.getOrDefault(replica, 0));
    }

    int begun(char limit, int replica) {
        return read(() -> count(limit).begun.getOrDefault(replica, 0));
    }

    int begun(char limit) {
        return read(() ->
                count(limit).begun.values().stream().mapToInt(Integer::intValue).sum());
    }

    int most(char limit) {
        return read(() -> count(limit).most);
    }

    private <T> T read(Supplier<T> value) {
        lock.lock();
        try {
            return value.get();
        } finally {
            lock.unlock();
        }
    }

    /** The condition is looked at whenever a call begins or ends. */
    void await(String what, BooleanSupplier condition) throws InterruptedException {
        lock.lock();
        try {
            long left = PATIENCE;
            while (!condition.getAsBoolean()) {
                if (left <= 0) {
                    throw new AssertionError("not seen: " + what + "; " + this);
                }
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    @Override
    public String toString() {
        return read(limits::toString);
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
