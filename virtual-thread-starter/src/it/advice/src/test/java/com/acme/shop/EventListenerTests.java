package com.acme.shop;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.limit.TaskLimits;
import java.lang.reflect.Method;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.EventListener;

@ShopTest
@Import({EventListenerTests.Listeners.class, EventListenerTests.Seen.class})
class EventListenerTests {

    @Autowired
    ApplicationEventPublisher events;

    @Autowired
    Seen seen;

    @Test
    void thePublisherGoesOnAtOnce() throws Exception {
        CompletableFuture<String> gate = new CompletableFuture<>();

        events.publishEvent(new Ordered(gate));
        assertThat(seen.events).as("while the listener works").isEmpty();
        gate.complete("a");

        Event event = seen.next();
        assertThat(event.what()).isEqualTo("a");
        assertThat(event.thread().isVirtual()).isTrue();
    }

    @Test
    void whatAListenerThrowsDoesNotReachThePublisher() throws Exception {
        events.publishEvent(new Ordered(CompletableFuture.failedFuture(new IllegalStateException("no paper"))));

        assertThat(seen.next().what()).isEqualTo("printing failed: no paper");
    }

    /** On the thread that completes the future, or on the publisher's if it is complete already. */
    @Test
    void theValueOfAReturnedFutureIsPublishedWhenThePermitIsBack() throws Exception {
        CompletableFuture<String> gate = new CompletableFuture<>();

        events.publishEvent(new Paid(gate));
        gate.complete("a");

        Event event = seen.next();
        assertThat(event.what()).isEqualTo("receipt of a, 1 permit free");
        assertThat(event.thread().isVirtual()).isTrue();
    }

    record Ordered(CompletableFuture<String> gate) {}

    record Paid(CompletableFuture<String> gate) {}

    record Receipt(String of) {}

    record Event(String what, Thread thread) {}

    static class Seen implements AsyncUncaughtExceptionHandler {

        final BlockingQueue<Event> events = new LinkedBlockingQueue<>();

        void add(String what) {
            events.add(new Event(what, Thread.currentThread()));
        }

        Event next() throws InterruptedException {
            return events.poll(120, SECONDS);
        }

        @Override
        public void handleUncaughtException(Throwable failure, Method method, Object... arguments) {
            add(method.getName() + "ing failed: " + failure.getCause().getMessage());
        }
    }

    static class Listeners {

        private final Seen seen;
        private final TaskLimits limits;

        Listeners(Seen seen, TaskLimits limits) {
            this.seen = seen;
            this.limits = limits;
        }

        @VirtualThread
        @EventListener
        public void print(Ordered event) throws Exception {
            seen.add(event.gate().get(120, SECONDS));
        }

        @VirtualThread("one")
        @EventListener
        public CompletableFuture<Receipt> receipt(Paid event) throws Exception {
            return completedFuture(new Receipt(event.gate().get(120, SECONDS)));
        }

        @EventListener
        public void received(Receipt receipt) {
            seen.add("receipt of %s, %d permit free"
                    .formatted(receipt.of(), limits.get("one").available()));
        }
    }
}
