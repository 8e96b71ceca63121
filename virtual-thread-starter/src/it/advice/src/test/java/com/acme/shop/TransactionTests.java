package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.CompletableFuture.failedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.transaction.support.TransactionSynchronization.STATUS_COMMITTED;
import static org.springframework.transaction.support.TransactionSynchronization.STATUS_ROLLED_BACK;

import com.zaxxer.hikari.HikariDataSource;
import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimits;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

@ShopTest
@Import({TransactionTests.Orders.class, TransactionTests.Ends.class})
class TransactionTests {

    @Autowired
    Orders orders;

    @Autowired
    Ends ends;

    @Autowired
    JdbcClient database;

    @Autowired
    TransactionTemplate transaction;

    @Autowired
    HikariDataSource pool;

    @Autowired
    TaskLimits limits;

    @Autowired
    VirtualThreads threads;

    @BeforeEach
    void empty() {
        database.sql("delete from orders").update();
        ends.ends.clear();
    }

    @Test
    void itBeginsAndCommitsOnTheVirtualThread() throws Exception {
        Thread body = orders.place("a", completedFuture(null)).get(120, SECONDS);

        assertThat(body.isVirtual()).isTrue();
        assertThat(ends.ends).as("when the future is complete").containsExactly(new End(STATUS_COMMITTED, body));
        assertThat(rows()).isOne();
    }

    @Test
    void aCallThatWaitsForItsPermitHoldsNoConnection() throws Exception {
        CompletableFuture<Thread> placed;
        try (HeldPermit permit = HeldPermit.of(threads, "one")) {
            placed = orders.place("a", completedFuture(null));

            assertThat(limits.get("one").waiting()).isOne();
            assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isZero();
        }
        assertThat(placed).succeedsWithin(120, SECONDS);
    }

    @Test
    void itRollsBackOnTheVirtualThreadIfTheBodyThrows() throws Exception {
        CompletableFuture<Thread> placed = orders.placeAndThrow("a");

        assertThat(placed).failsWithin(120, SECONDS).withThrowableThat().withMessageContaining("out of stock");
        End end = ends.next();
        assertThat(end.status()).isEqualTo(STATUS_ROLLED_BACK);
        assertThat(end.thread().isVirtual()).isTrue();
        assertThat(rows()).isZero();
    }

    /** Spring looks at a future that is complete when the method returns. */
    @Test
    void itRollsBackIfTheBodyReturnsAFutureThatHasFailed() throws Exception {
        CompletableFuture<Thread> placed = orders.place("a", failedFuture(new IllegalStateException("out of stock")));

        assertThat(placed).failsWithin(120, SECONDS).withThrowableThat().withMessageContaining("out of stock");
        assertThat(ends.next().status()).isEqualTo(STATUS_ROLLED_BACK);
        assertThat(rows()).isZero();
    }

    /** Spring does not wait for a future: what it ends in comes too late. */
    @Test
    void itCommitsBeforeAFutureThatFailsLater() throws Exception {
        CompletableFuture<Void> later = new CompletableFuture<>();
        CompletableFuture<Thread> placed = orders.place("a", later);

        assertThat(ends.next().status()).isEqualTo(STATUS_COMMITTED);
        assertThat(placed).isNotDone();
        later.completeExceptionally(new IllegalStateException("out of stock"));

        assertThat(placed).failsWithin(120, SECONDS).withThrowableThat().withMessageContaining("out of stock");
        assertThat(rows()).isOne();
    }

    @Test
    void theTransactionOfTheCallerIsAnotherOne() throws Exception {
        transaction.executeWithoutResult(status -> {
            database.sql("insert into orders values ('caller')").update();
            assertThat(orders.count()).succeedsWithin(120, SECONDS).isEqualTo(0);
            assertThat(orders.place("a", completedFuture(null))).succeedsWithin(120, SECONDS);
            status.setRollbackOnly();
        });

        assertThat(database.sql("select name from orders").query(String.class).list())
                .containsExactly("a");
    }

    @Test
    void underLimitedItBeginsAndEndsOnTheThreadOfTheCaller() throws Exception {
        orders.placeNow("a");

        assertThat(ends.next()).isEqualTo(new End(STATUS_COMMITTED, Thread.currentThread()));
        assertThat(rows()).isOne();
    }

    private int rows() {
        return database.sql("select count(*) from orders").query(Integer.class).single();
    }

    record End(int status, Thread thread) {}

    static class Ends {

        private final BlockingQueue<End> ends = new LinkedBlockingQueue<>();

        End next() throws InterruptedException {
            return ends.poll(120, SECONDS);
        }
    }

    static class Orders {

        private final JdbcClient database;
        private final Ends ends;

        Orders(JdbcClient database, Ends ends) {
            this.database = database;
            this.ends = ends;
        }

        @VirtualThread("one")
        @Transactional
        public CompletableFuture<Thread> place(String name, CompletableFuture<Void> rest) {
            insert(name);
            Thread body = Thread.currentThread();
            return rest.thenApply(nothing -> body);
        }

        @VirtualThread
        @Transactional
        public CompletableFuture<Thread> placeAndThrow(String name) {
            insert(name);
            throw new IllegalStateException("out of stock");
        }

        @VirtualThread
        @Transactional
        public CompletableFuture<Integer> count() {
            return completedFuture(database.sql("select count(*) from orders")
                    .query(Integer.class)
                    .single());
        }

        @Limited("many")
        @Transactional
        public void placeNow(String name) {
            insert(name);
        }

        private void insert(String name) {
            database.sql("insert into orders values (?)").param(name).update();
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void afterCompletion(int status) {
                    ends.ends.add(new End(status, Thread.currentThread()));
                }
            });
        }
    }
}
