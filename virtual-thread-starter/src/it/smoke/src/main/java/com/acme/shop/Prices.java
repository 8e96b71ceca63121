package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.MDC;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.security.core.Authentication;
import org.springframework.security.core.context.SecurityContextHolder;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

@Service
public class Prices {

    private final JdbcClient database;

    public Prices(JdbcClient database) {
        this.database = database;
    }

    /** A row of the database, and what the body saw. */
    public record Price(
            int amount, String thread, boolean virtual, boolean transaction, String user, String requestId) {}

    @VirtualThread("db")
    @Transactional
    public CompletableFuture<Price> find() {
        return completedFuture(read());
    }

    /** Goes to the database when the gate opens, and not before. */
    @VirtualThread("db")
    public CompletableFuture<Price> findLater(CountDownLatch started, CountDownLatch gate) throws InterruptedException {
        started.countDown();
        if (!gate.await(2, TimeUnit.MINUTES)) {
            throw new IllegalStateException("the gate stayed closed");
        }
        return completedFuture(read());
    }

    /** Takes longer than it may. */
    @VirtualThread(limit = "none", timeout = "10ms")
    public CompletableFuture<Price> late() throws InterruptedException {
        new CountDownLatch(1).await();
        return completedFuture(read());
    }

    private Price read() {
        Thread thread = Thread.currentThread();
        Authentication user = SecurityContextHolder.getContext().getAuthentication();
        return new Price(
                database.sql("select 7").query(Integer.class).single(),
                thread.getName(),
                thread.isVirtual(),
                TransactionSynchronizationManager.isActualTransactionActive(),
                user == null ? null : user.getName(),
                MDC.get("requestId"));
    }
}
