package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.limit.TaskLimit;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.springframework.boot.SpringBootVersion;

/** Half of many clients go away at random. Those that stay must not notice, and all permits come back. {@code -Dstorm.requests=10000} */
@Timeout(1200)
@EnabledOnOs(OS.LINUX) // the others do not tell of clients that have gone
class AbandonedStormTests {

    private static final int REQUESTS = Integer.getInteger("storm.requests");
    private static final int CLIENTS = 1_000;
    /** Fewer than there are requests at a time. */
    private static final int PERMITS = Math.min(600, REQUESTS / 5);
    /** Of one connection, one after the other. */
    private static final int IN_TURN = 5;
    /** Of one connection by HTTP/2, at once. Half of them are reset: Tomcat closes one with 4 of 8 as overhead, 10.1 with 2 of 4. */
    private static final int AT_ONCE = 2;
    /** By HTTP/2 at a time; Jetty reset one of 250 that began together. */
    private static final int CONNECTIONS = 160;

    private final Random random = new Random(59);
    private final Set<String> left = ConcurrentHashMap.newKeySet();
    private final List<Throwable> victims = new ArrayList<>();
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger answeredBefore = new AtomicInteger();

    @Test
    void nobodyWhoStaysIsHurtOnConnectionsThatAreKept() throws Exception {
        run("HTTP/1.1, future", IN_TURN, (shop, requests) -> new Keeping(shop, "/timed/future").sendAll(requests));
    }

    @Test
    void nobodyWhoStaysIsHurtOnConnectionsOfOneRequest() throws Exception {
        run("HTTP/1.1 without keep-alive, future", IN_TURN, (shop, requests) -> {
            for (Plan request : requests) {
                new Keeping(shop, "/timed/future").sendAll(List.of(request));
            }
        });
    }

    @Test
    void nobodyWhoStaysIsHurtInSynchronousControllers() throws Exception {
        run("HTTP/1.1, synchronous", IN_TURN, (shop, requests) -> new Keeping(shop, "/timed/join").sendAll(requests));
    }

    @Test
    void nobodyWhoStaysIsHurtOnConnectionsOfManyRequests() throws Exception {
        run("h2c, future", AT_ONCE, this::sendByHttp2);
    }

    /**
     * A request.
     *
     * @param time that it takes once it has its permit
     * @param leavesAfter null for one that stays
     */
    private record Plan(String id, Duration time, Duration leavesAfter, boolean resets) {

        String path(String root) {
            return "%s?id=%s&milliseconds=%d".formatted(root, id, time.toMillis());
        }
    }

    private interface Client {
        void send(Shop shop, List<Plan> requests) throws Exception;
    }

    private void run(String name, int perConnection, Client client) throws Exception {
        List<List<Plan>> plans = new ArrayList<>();
        for (int i = 0; i < REQUESTS; i += perConnection) {
            plans.add(plan(perConnection));
        }
        try (Shop shop = Shop.cancelling(
                        "virtual-thread.limits.work.permits=" + PERMITS,
                        "server.http2.enabled=true",
                        "server.tomcat.max-connections=20000",
                        "logging.level.root=off");
                ExecutorService clients = Executors.newFixedThreadPool(
                        perConnection == AT_ONCE ? CONNECTIONS : CLIENTS,
                        Thread.ofVirtual().factory())) {
            long begin = System.nanoTime();
            List<Future<?>> all = new ArrayList<>();
            for (List<Plan> each : plans) {
                all.add(clients.submit(() -> {
                    client.send(shop, each);
                    return null;
                }));
            }
            for (Future<?> each : all) {
                each.get(15, TimeUnit.MINUTES);
            }
            long last = System.nanoTime();
            TaskLimit work = shop.limit("work");
            await().atMost(Duration.ofMinutes(4))
                    .pollInterval(Duration.ofMillis(1))
                    .until(() -> work.available() == PERMITS && work.waiting() == 0);
            long back = System.nanoTime();
            Meetings seen = shop.meetings;
            System.out.println(
                    ("STORM %s, Spring Boot %s, %s: %d requests in %.1f s, %d left before their answer, %d answered, %d answered before"
                                    + " they would have left, %d victims; %d bodies interrupted, %d done, %d never begun; permits back %.0f ms"
                                    + " after the last")
                            .formatted(
                                    System.getProperty("expected.container"),
                                    SpringBootVersion.getVersion(),
                                    name,
                                    REQUESTS,
                                    (last - begin) / 1e9,
                                    left.size(),
                                    answered.get(),
                                    answeredBefore.get(),
                                    victims.size(),
                                    seen.interrupted.size(),
                                    seen.done.get(),
                                    shop.clientGone("work"),
                                    (back - last) / 1e6));
            assertThat(victims.stream().map(Throwable::getMessage).limit(3)).isEmpty();
            assertThat(seen.interrupted).allMatch(left::contains);
            assertThat(answered.get() + answeredBefore.get() + left.size()).isEqualTo(plans.size() * perConnection);
            assertThat(seen.interrupted).isNotEmpty();
        }
    }

    private List<Plan> plan(int number) {
        List<Plan> requests = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            Duration leaves = i % 2 == 0 ? null : Duration.ofMillis(1 + random.nextInt(3_000));
            Duration time = Duration.ofMillis(1_500 + random.nextInt(2_000));
            requests.add(new Plan(Shop.newId(), time, leaves, random.nextBoolean()));
        }
        return requests;
    }

    private void check(Plan request, String answer) {
        if (!answer.equals(request.id)) {
            hurt(request, new AssertionError("Answer: " + answer));
        } else if (request.leavesAfter == null) {
            answered.incrementAndGet();
        } else {
            answeredBefore.incrementAndGet();
        }
    }

    private void hurt(Plan request, Throwable failure) {
        synchronized (victims) {
            victims.add(new AssertionError(request + ": " + failure, failure));
        }
    }

    /** One request after the other on one connection, until it is left. */
    private final class Keeping {

        private final Shop shop;
        private final String root;
        private Exchange connection;

        Keeping(Shop shop, String root) {
            this.shop = shop;
            this.root = root;
        }

        void sendAll(List<Plan> requests) throws IOException {
            for (Plan request : requests) {
                try {
                    send(request);
                } catch (IOException failure) {
                    hurt(request, failure);
                    connection = null;
                }
            }
            if (connection != null) {
                connection.close();
            }
        }

        private void send(Plan request) throws IOException {
            if (connection == null) {
                connection = Exchange.connect(shop.port());
            }
            connection.setPatience(request.leavesAfter == null ? Duration.ofMinutes(10) : request.leavesAfter);
            connection.write("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n".formatted(request.path(root)));
            try {
                check(request, connection.readOne().body());
            } catch (SocketTimeoutException now) {
                left.add(request.id);
                if (request.resets) {
                    connection.breakOff();
                } else {
                    connection.close();
                }
                connection = null;
            }
        }
    }

    /** All at once on one connection. */
    private void sendByHttp2(Shop shop, List<Plan> requests) throws Exception {
        try (Http2Exchange connection = Http2Exchange.connect(shop.port());
                ExecutorService streams = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Plan request : requests) {
                int stream = connection.send(request.path("/timed/future"));
                streams.submit(() -> {
                    Duration patience = request.leavesAfter == null ? Duration.ofMinutes(10) : request.leavesAfter;
                    try {
                        check(request, connection.answer(stream).get(patience.toMillis(), TimeUnit.MILLISECONDS));
                    } catch (TimeoutException now) {
                        left.add(request.id);
                        connection.reset(stream);
                    } catch (ExecutionException failure) {
                        hurt(request, failure.getCause());
                    }
                    return null;
                });
            }
        }
    }
}
