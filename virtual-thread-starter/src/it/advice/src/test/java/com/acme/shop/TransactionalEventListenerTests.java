package com.acme.shop;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

@ShopTest
@Import({TransactionalEventListenerTests.Parcels.class, TransactionalEventListenerTests.Sent.class})
class TransactionalEventListenerTests {

    @Autowired
    ApplicationEventPublisher events;

    @Autowired
    JdbcClient database;

    @Autowired
    Sent sent;

    @Autowired
    TransactionTemplate transaction;

    @Autowired
    VirtualThreads threads;

    @BeforeEach
    void empty() {
        database.sql("delete from orders").update();
        database.sql("delete from parcels").update();
    }

    @Test
    void itRunsOnAVirtualThreadAfterTheCommitInATransactionOfItsOwn() throws Exception {
        transaction.executeWithoutResult(status -> {
            place("a");
            assertThat(sent.parcels).isEmpty();
        });

        Parcel parcel = sent.parcels.poll(120, SECONDS);
        assertThat(parcel.thread().isVirtual()).isTrue();
        assertThat(parcel.order()).as("the committed row").isEqualTo("a");
        assertThat(threads.awaitIdle(Duration.ofMinutes(2))).isTrue();
        assertThat(database.sql("select name from parcels").query(String.class).list())
                .containsExactly("a");
    }

    @Test
    void itDoesNotRunAfterARollback() throws Exception {
        transaction.executeWithoutResult(status -> {
            place("a");
            status.setRollbackOnly();
        });

        assertThat(threads.awaitIdle(Duration.ofMinutes(2))).isTrue();
        assertThat(sent.parcels.poll(0, MILLISECONDS)).isNull();
    }

    /** Spring's rule. It does not know that the transaction of the listener begins on another thread. */
    @Test
    void withoutANewTransactionTheStartFails() {
        SpringApplication application = new SpringApplication(ShopApplication.class, Wrong.class);
        application.setWebApplicationType(WebApplicationType.NONE);

        assertThatThrownBy(application::run).rootCause().hasMessageContaining("REQUIRES_NEW");
    }

    private void place(String name) {
        database.sql("insert into orders values (?)").param(name).update();
        events.publishEvent(new OrderPlaced(name));
    }

    record OrderPlaced(String name) {}

    record Parcel(String order, Thread thread) {}

    static class Sent {
        final BlockingQueue<Parcel> parcels = new LinkedBlockingQueue<>();
    }

    static class Parcels {

        private final JdbcClient database;
        private final Sent sent;

        Parcels(JdbcClient database, Sent sent) {
            this.database = database;
            this.sent = sent;
        }

        @VirtualThread("one")
        @TransactionalEventListener
        @Transactional(propagation = Propagation.REQUIRES_NEW)
        public void send(OrderPlaced event) {
            String order = database.sql("select name from orders where name = ?")
                    .param(event.name())
                    .query(String.class)
                    .single();
            database.sql("insert into parcels values (?)").param(order).update();
            sent.parcels.add(new Parcel(order, Thread.currentThread()));
        }
    }

    static class Wrong {

        @VirtualThread
        @TransactionalEventListener
        @Transactional
        public void send(OrderPlaced event) {}
    }
}
