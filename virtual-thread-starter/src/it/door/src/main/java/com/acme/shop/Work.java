package com.acme.shop;

import io.github.virtualthread.VirtualThread;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** The calls of requests whose clients may go away. */
@Service
class Work {

    private final Meetings meetings;
    private final JdbcTemplate jdbc;

    Work(Meetings meetings, JdbcTemplate jdbc) {
        this.meetings = meetings;
        this.jdbc = jdbc;
    }

    /** Ends with its meeting. */
    @VirtualThread("work")
    CompletableFuture<String> future(String id) throws InterruptedException {
        run(meetings.of(id));
        return CompletableFuture.completedFuture(id);
    }

    /** The same for nobody. */
    @VirtualThread("work")
    void mail(String id) throws InterruptedException {
        run(meetings.of(id));
    }

    private static void run(Meeting meeting) throws InterruptedException {
        meeting.bodyBegun.countDown();
        CountDownLatch end = meeting.bodyInterrupted;
        try {
            meeting.gate.await();
            end = meeting.bodyEnded;
        } finally {
            end.countDown();
        }
    }

    @VirtualThread("work")
    CompletableFuture<String> timed(String id, Duration time) throws InterruptedException {
        try {
            Thread.sleep(time);
        } catch (InterruptedException stopped) {
            meetings.interrupted.add(id);
            throw stopped;
        }
        meetings.done.incrementAndGet();
        return CompletableFuture.completedFuture(id);
    }

    /** A query that ends only if it is cancelled. */
    @VirtualThread("db")
    CompletableFuture<String> query(String id) {
        jdbc.queryForList("select pg_sleep(3600) /* query " + id + " */");
        return CompletableFuture.completedFuture(id);
    }

    /** Its commit takes as long as a test wants. */
    @VirtualThread("db")
    @Transactional
    CompletableFuture<String> order(String id) {
        jdbc.update("insert into orders values (?)", id);
        return CompletableFuture.completedFuture(id);
    }
}
