package io.github.virtualthread.sample.lab.experiment;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;
import org.springframework.web.reactive.function.client.WebClient;
import reactor.core.publisher.Mono;

/** The slow partner behind a socket, for who calls it without a thread. */
@Component
class FloodPartner implements DisposableBean {

    private static final int BACKLOG = 1_000;

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final WebClient client;

    FloodPartner() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), BACKLOG);
        server.setExecutor(threads);
        server.createContext("/", FloodPartner::answer);
        server.start();
        client = WebClient.create("http://localhost:" + server.getAddress().getPort());
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            Thread.sleep(Long.parseLong(exchange.getRequestURI().getQuery()));
            exchange.sendResponseHeaders(204, -1);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    // shown
    Mono<Void> call(Duration time) {
        return client.get()
                .uri("/?" + time.toMillis())
                .retrieve()
                .toBodilessEntity()
                .then();
    }
    // shown

    @Override
    public void destroy() {
        server.stop(0);
        threads.shutdownNow();
    }
}
