package com.acme.shop;

import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Counts what it sends at once, and halts the JVM if asked to. */
public class CountingMailServer implements MailServer {

    /** Of the limit in application.yml. */
    public static final int PERMITS = 6;

    static final int HALTED = 17;

    /** Where it halts. */
    enum Halt {
        NOWHERE,
        /** The mail is sent and not committed. */
        IN_THE_BODY,
        /** The mail is committed, and its event is not yet completed. */
        AFTER_THE_COMMIT
    }

    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger sent = new AtomicInteger();
    private final JdbcTemplate jdbc;
    private final String name;
    private final Halt halt;
    private final int haltAt;

    CountingMailServer(
            JdbcTemplate jdbc,
            @Value("${replica}") String name,
            @Value("${halt:nowhere}") Halt halt,
            @Value("${halt-at:0}") int haltAt) {
        this.jdbc = jdbc;
        this.name = name;
        this.halt = halt;
        this.haltAt = haltAt;
    }

    @Override
    public void send(int number) {
        int atOnce = running.incrementAndGet();
        try {
            jdbc.queryForList("select pg_sleep(0.02)");
            jdbc.update("insert into mails (number, replica, at_once) values (?, ?, ?)", number, name, atOnce);
            if (sent.incrementAndGet() == haltAt) {
                halt();
            }
        } finally {
            running.decrementAndGet();
        }
    }

    private void halt() {
        if (halt == Halt.IN_THE_BODY) {
            Runtime.getRuntime().halt(HALTED);
        }
        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

            @Override
            public void afterCommit() {
                Runtime.getRuntime().halt(HALTED);
            }
        });
    }
}
