package com.acme.shop;

import static java.util.concurrent.TimeUnit.MINUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.acme.shop.Exchange.Answer;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIf;
import org.springframework.util.ClassUtils;

/** Many requests of every kind; a third of them is broken off by the client. */
@Timeout(600)
@DisabledIf(
        value = "mayStandStill",
        disabledReason = "before JDK 24 pinned carriers and the lock of Jetty's scheduler may wait for each other")
class BrokenOffTests {

    private static final int REQUESTS = 10_000;
    private static final int PERMITS = 32;
    private static final int QUEUE = 100;
    /** So many requests at a time: more than find a place, now and then. */
    private static final int CLIENTS = 200;

    private static final String[] PATHS = {
        "/plain",
        "/throws",
        "/deferred",
        "/deferred-fails",
        "/future",
        "/callable",
        "/callable-throws",
        "/stream",
        "/sse",
        "/sse-at-once",
        "/sse-given-up"
    };

    private final AtomicInteger served = new AtomicInteger();
    private final AtomicInteger refused = new AtomicInteger();
    private final AtomicInteger timedOut = new AtomicInteger();
    private final AtomicInteger unfinished = new AtomicInteger();
    private final AtomicInteger atOnce = new AtomicInteger();

    static boolean mayStandStill() {
        return Runtime.version().feature() < 24
                && ClassUtils.isPresent("org.eclipse.jetty.server.Server", BrokenOffTests.class.getClassLoader());
    }

    @Test
    void allPermitsAreBackAndNobodyWaits() throws Exception {
        try (Shop shop = new Shop(
                        "virtual-thread.limits.web.permits=" + PERMITS,
                        "virtual-thread.limits.web.queue-capacity=" + QUEUE,
                        // Tomcat itself now and then takes a request of a client that has gone for active
                        "server.shutdown=immediate",
                        "virtual-thread.shutdown.await-termination-period=1s",
                        "logging.level.root=off",
                        "logging.level.io.github.virtualthread=info");
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            Semaphore free = new Semaphore(CLIENTS);
            List<Future<?>> all = new ArrayList<>();
            Occupation occupation = shop.web.occupy();
            for (int number = 0; number < REQUESTS; number++) {
                if (number == CLIENTS) { // the queue is full, and some were refused
                    shop.awaitWaiting(QUEUE);
                    occupation.close();
                }
                int request = number;
                assertThat(free.tryAcquire(4, MINUTES)).isTrue();
                all.add(clients.submit(() -> {
                    try {
                        exchange(shop, request);
                    } finally {
                        free.release();
                    }
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get(4, MINUTES);
            }

            // each was served or refused, and has been counted once; those broken off at once may come late, or never
            int broken = (REQUESTS + 2) / 3;
            // servers forget an answer now and then: its permit is back with the garbage
            await().atMost(Duration.ofMinutes(4)).untilAsserted(() -> {
                System.gc();
                int arrived = shop.meetings.arrived.get();
                assertThat(arrived).isBetween(REQUESTS - unfinished.get() - atOnce.get(), REQUESTS - unfinished.get());
                assertThat(shop.meetings.left).hasValue(arrived);
                assertThat(shop.ledger.submitted).hasValue(arrived);
                int started = shop.meetings.begun.get();
                assertThat(shop.ledger.started).hasValue(started);
                assertThat(shop.ledger.finished).hasValue(started);
                assertThat(shop.ledger.rejected).hasValue(arrived - started);
                assertThat(shop.web.available()).isEqualTo(PERMITS);
                assertThat(shop.web.waiting()).isZero();
            });
            shop.awaitAllPermits();

            assertThat(served.get() + refused.get() + timedOut.get()).isEqualTo(REQUESTS - broken);
            assertThat(served).hasPositiveValue();
            assertThat(refused).hasPositiveValue();
            assertThat(timedOut).hasPositiveValue();
            assertThat(shop.ledger.rejected).hasValueGreaterThanOrEqualTo(refused.get());
        }
    }

    private void exchange(Shop shop, int number) throws Exception {
        String id = "n" + number;
        Meeting meeting = shop.meetings.of(id);
        String path = number % 200 == 1 ? "/deferred-times-out" : PATHS[number / 3 % PATHS.length];
        if (number % 3 > 0) {
            meeting.gate.countDown();
            check(path, shop.send(path, id).read());
            return;
        }
        switch (number / 3 / PATHS.length % 4) {
            case 0 -> {
                Exchange half = Exchange.connect(shop.port());
                half.write("GET " + path + "?id=" + id + " HTTP/1.1\r\nHost: loc");
                unfinished.incrementAndGet();
                half.breakOff();
            }
            case 1 -> {
                meeting.gate.countDown();
                atOnce.incrementAndGet();
                shop.send(path, id).breakOff();
            }
            case 2 -> { // it waits at the door, or is about to
                Exchange waiting = shop.send(path, id);
                Meeting.await(meeting.arrived);
                waiting.breakOff();
                meeting.gate.countDown();
            }
            default -> { // it runs, or has been refused
                Exchange running = shop.send(path, id);
                Meeting.await(meeting.begunOrLeft);
                running.breakOff();
                meeting.gate.countDown();
            }
        }
    }

    private void check(String path, Answer answer) {
        if (answer.header("Retry-After") != null) {
            assertThat(answer.status()).isEqualTo(503);
            refused.incrementAndGet();
        } else if (path.equals("/deferred-times-out")) {
            assertThat(answer.status()).isEqualTo(503);
            timedOut.incrementAndGet();
        } else {
            assertThat(answer.status()).as(path).isEqualTo(path.matches(".*(throws|fails)") ? 500 : 200);
            served.incrementAndGet();
        }
    }
}
