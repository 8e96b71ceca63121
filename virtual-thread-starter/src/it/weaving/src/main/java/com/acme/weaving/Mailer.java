package com.acme.weaving;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.Deadline;
import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.MDC;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** A final class, which no proxy could be made of. */
public final class Mailer {

    public final AtomicInteger running = new AtomicInteger();
    public final AtomicInteger most = new AtomicInteger();

    public CompletableFuture<Thread> sendByItself() {
        return send();
    }

    public CompletableFuture<Thread> sendPrivately() {
        return secretly();
    }

    @VirtualThread("mail")
    public CompletableFuture<Thread> send() {
        return completedFuture(Thread.currentThread());
    }

    @VirtualThread("mail")
    private CompletableFuture<Thread> secretly() {
        return completedFuture(Thread.currentThread());
    }

    @VirtualThread("mail")
    public static CompletableFuture<Thread> sendStatically() {
        return completedFuture(Thread.currentThread());
    }

    @VirtualThread("mail")
    public CompletableFuture<String> requestId() {
        return completedFuture(MDC.get("requestId"));
    }

    @VirtualThread("mail")
    public CompletableFuture<Integer> hold(CountDownLatch entered, CountDownLatch release) throws InterruptedException {
        int now = running.incrementAndGet();
        most.accumulateAndGet(now, Math::max);
        entered.countDown();
        try {
            release.await();
        } finally {
            running.decrementAndGet();
        }
        return completedFuture(now);
    }

    @VirtualThread("watched")
    public CompletableFuture<Integer> watch(CountDownLatch entered, CountDownLatch release)
            throws InterruptedException {
        entered.countDown();
        release.await();
        return completedFuture(1);
    }

    @Limited("watched")
    public int watchHere(int value) {
        return value;
    }

    /** Takes hours, unless its statement is cancelled. */
    @VirtualThread(limit = "mail", timeout = "3s")
    public CompletableFuture<Long> count(JdbcTemplate jdbc, BlockingQueue<Throwable> seen) {
        try {
            return completedFuture(jdbc.queryForObject(
                    "select count(*) from system_range(1, 1000000000) a, system_range(1, 1000000) b", Long.class));
        } catch (DataAccessException stopped) {
            seen.add(stopped);
            throw stopped;
        }
    }

    @VirtualThread
    public void fail(String message) {
        throw new IllegalStateException(message);
    }

    @Limited("mail")
    public int limited(int value) {
        Trace.add("limited");
        return value;
    }

    /** Calls of this tenant that run. */
    @VirtualThread(limit = "mail", key = "#tenant")
    public CompletableFuture<Integer> running(String tenant, TaskLimit limit) {
        return completedFuture(limit.key(tenant).running());
    }

    /** The same for the first of them. */
    @Limited(limit = "mail", key = "#tenants[0].toLowerCase()")
    public int runningOfFirst(List<String> tenants, TaskLimit limit) {
        return limit.key("acme").running();
    }

    @VirtualThread(deadline = "2h")
    public CompletableFuture<Optional<Duration>> timeLeft() {
        return completedFuture(Deadline.remaining());
    }

    /** The call of this object has what is left of the hour. */
    @Limited(limit = "mail", deadline = "1h")
    public Optional<Duration> timeLeftWithinAnHour() {
        return timeLeft().join();
    }

    @OnMail
    public CompletableFuture<Thread> byAnotherAnnotation() {
        return completedFuture(Thread.currentThread());
    }
}
