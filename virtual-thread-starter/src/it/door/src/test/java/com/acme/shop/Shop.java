package com.acme.shop;

import static org.awaitility.Awaitility.await;

import com.acme.shop.Exchange.Answer;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The application, started, and what tests ask of it. */
final class Shop implements AutoCloseable {

    static {
        Awaitility
                .doNotCatchUncaughtExceptionsByDefault(); // Jetty's threads have some, of buffers of broken connections
    }

    private static final AtomicInteger ids = new AtomicInteger();

    final ConfigurableApplicationContext context;
    final TaskLimit web;
    final Meetings meetings;
    final Ledger ledger;
    private final String root;

    Shop(String... properties) {
        context = SpringApplication.run(
                ShopApplication.class,
                Stream.of(properties).map(property -> "--" + property).toArray(String[]::new));
        web = context.getBean(TaskLimits.class).get("web");
        meetings = context.getBean(Meetings.class);
        ledger = context.getBean(Ledger.class);
        root = context.getEnvironment().getProperty("server.servlet.context-path", "");
    }

    /** Its requests need no permit at the door, and end with their clients. */
    static Shop cancelling(String... properties) {
        Stream<String> always = Stream.of(
                "virtual-thread.web.cancel-abandoned=true",
                "virtual-thread.web.limit=none",
                "virtual-thread.web.deadline=",
                "virtual-thread.jdbc.cancel-statements=true",
                "server.shutdown=immediate",
                "virtual-thread.shutdown.await-termination-period=1s");
        return new Shop(Stream.concat(always, Stream.of(properties)).toArray(String[]::new));
    }

    /** A name for a request, new each time. */
    static String newId() {
        return "r" + ids.incrementAndGet();
    }

    /** The class of the container; where its interface is depends on the line of Spring Boot. */
    String webServer() throws ReflectiveOperationException {
        return context.getClass()
                .getMethod("getWebServer")
                .invoke(context)
                .getClass()
                .getSimpleName();
    }

    int port() {
        return context.getEnvironment().getRequiredProperty("local.server.port", int.class);
    }

    int managementPort() {
        return context.getEnvironment().getRequiredProperty("local.management.port", int.class);
    }

    /** Sends a request with this parameter {@code id}, and does not wait for the answer. */
    Exchange send(String path, String id) throws IOException {
        return Exchange.send(port(), root + path + "?id=" + id);
    }

    /** A limit by its name. */
    TaskLimit limit(String name) {
        return context.getBean(TaskLimits.class).get(name);
    }

    /** How many requests were answered with this status. */
    long answered(int status) {
        return timed("http.server.requests", "status", Integer.toString(status));
    }

    /** How many calls under a limit have been counted by a timer, with this tag. */
    long timed(String timer, String tag, String value) {
        return context.getBean(MeterRegistry.class).find(timer).tag(tag, value).timers().stream()
                .mapToLong(Timer::count)
                .sum();
    }

    /** How many calls under a limit were rejected because their client had gone. */
    long clientGone(String limit) {
        return context
                .getBean(MeterRegistry.class)
                .find("virtual.thread.rejected")
                .tags("limit", limit, "reason", "CLIENT_GONE")
                .counters()
                .stream()
                .mapToLong(counter -> (long) counter.count())
                .sum();
    }

    /**
     * Waits until the table of the kernel has been looked at, with all in it that has happened before. A client goes away for that;
     * and once more, because the first look may not have ended.
     */
    void awaitLook() throws IOException {
        for (int i = 0; i < 2; i++) {
            String id = newId();
            try (Exchange leaving = send("/work/future", id)) {
                Meeting.await(meetings.of(id).bodyBegun);
            }
            Meeting.await(meetings.of(id).bodyInterrupted);
        }
    }

    /** The answer to a request whose handler waits for nothing. */
    Answer get(String path) throws IOException {
        String id = newId();
        meetings.of(id).gate.countDown();
        return send(path, id).read();
    }

    /** Waits until this many requests wait at the door. */
    void awaitWaiting(int requests) {
        await().atMost(Duration.ofMinutes(4)).until(() -> web.waiting() == requests);
    }

    /** Meets calls under the limit, as many as it has permits: that works when all permits are back, and not before. */
    void awaitAllPermits() throws Exception {
        int permits = web.permits();
        CyclicBarrier all = new CyclicBarrier(permits);
        VirtualThreads threads = context.getBean(VirtualThreads.class);
        List<CompletableFuture<Integer>> calls = Stream.generate(
                        () -> threads.submit("web", () -> all.await(4, TimeUnit.MINUTES)))
                .limit(permits)
                .toList();
        for (CompletableFuture<Integer> call : calls) {
            call.get(4, TimeUnit.MINUTES);
        }
        await().atMost(Duration.ofMinutes(4)).until(() -> web.available() == permits && web.waiting() == 0);
    }

    @Override
    public void close() {
        context.close();
    }
}
