package com.acme.shop;

import static org.awaitility.Awaitility.await;

import com.acme.shop.Exchange.Answer;
import io.github.virtualthread.execution.VirtualThreads;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
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
