package com.acme.queries;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/** Asks the server itself, all the time, which queries it runs: those with a number in a comment. */
final class Watch implements AutoCloseable {

    private final Database database;
    private final int before;
    private final Thread thread;
    private volatile Set<Integer> running = Set.of();
    private volatile int mostAtOnce;
    private final Set<Integer> seen = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** Watches the queries with a higher number than this. */
    Watch(Database database, int before) {
        this.database = database;
        this.before = before;
        thread = Thread.ofPlatform().daemon().name("watch").start(this::look);
    }

    private void look() {
        while (!closed) {
            Set<Integer> now = database.queries();
            now.removeIf(number -> number <= before);
            running = now;
            seen.addAll(now);
            mostAtOnce = Math.max(mostAtOnce, now.size());
            LockSupport.parkNanos(1_000_000);
        }
    }

    Set<Integer> running() {
        return running;
    }

    /** How many different ones. */
    int seen() {
        return seen.size();
    }

    int mostAtOnce() {
        return mostAtOnce;
    }

    @Override
    public void close() throws InterruptedException {
        closed = true;
        thread.join();
    }
}
