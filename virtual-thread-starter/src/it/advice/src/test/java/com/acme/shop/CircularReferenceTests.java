package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.annotation.Import;
import org.springframework.test.context.TestPropertySource;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

@ShopTest
@TestPropertySource(properties = "spring.main.allow-circular-references=true")
@Import({CircularReferenceTests.Orders.class, CircularReferenceTests.Invoices.class})
class CircularReferenceTests {

    @Autowired
    Orders orders;

    @Autowired
    Invoices invoices;

    @Test
    void whatIsInjectedEarlyIsTheBean() {
        assertThat(invoices.orders()).isSameAs(orders);
        assertThat(orders.invoices()).isSameAs(invoices);
        assertThat(Orders.MADE).hasValue(1);
        assertThat(Invoices.MADE).hasValue(1);
    }

    @Test
    void bothRunOnVirtualThreadsAndInTransactions() {
        assertThat(invoices.orders().place())
                .succeedsWithin(120, SECONDS)
                .isEqualTo("vt-Orders.place in a transaction");
        assertThat(orders.invoices().write())
                .succeedsWithin(120, SECONDS)
                .isEqualTo("vt-Invoices.write in a transaction");
    }

    private static CompletableFuture<String> where() {
        return completedFuture(Thread.currentThread().getName().replaceFirst("-\\d+$", "")
                + (TransactionSynchronizationManager.isActualTransactionActive() ? " in a transaction" : ""));
    }

    static class Orders {

        static final AtomicInteger MADE = new AtomicInteger();

        @Autowired
        private Invoices invoices;

        Orders() {
            MADE.incrementAndGet();
        }

        public Invoices invoices() {
            return invoices;
        }

        @VirtualThread("one")
        @Transactional
        public CompletableFuture<String> place() {
            return where();
        }
    }

    static class Invoices {

        static final AtomicInteger MADE = new AtomicInteger();

        @Autowired
        private Orders orders;

        Invoices() {
            MADE.incrementAndGet();
        }

        public Orders orders() {
            return orders;
        }

        @VirtualThread("one")
        @Transactional
        public CompletableFuture<String> write() {
            return where();
        }
    }
}
