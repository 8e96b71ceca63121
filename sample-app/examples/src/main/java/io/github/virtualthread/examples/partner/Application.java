package io.github.virtualthread.examples.partner;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

/** A partner that serves 2 calls at once. A few more may wait for a moment, and the others are answered 503. */
@SpringBootApplication
public class Application {

    public static void main(String[] args) {
        new SpringApplicationBuilder(Application.class)
                .properties(
                        "server.address=127.0.0.1", // nobody else reaches it
                        "virtual-thread.limits.partner.permits=2", // what the partner agreed to serve at once
                        "virtual-thread.limits.partner.queue-capacity=4", // one more call is rejected at once
                        "virtual-thread.limits.partner.max-wait=750ms") // no call waits longer than this
                .run(args);
    }

    @Service
    static class Partner {

        @VirtualThread("partner")
        CompletableFuture<String> review(long product) throws InterruptedException {
            Thread.sleep(500); // in place of an HTTP request
            return completedFuture("Product %d is good.\n".formatted(product));
        }
    }

    @RestController
    static class Reviews {

        private final Partner partner;

        Reviews(Partner partner) {
            this.partner = partner;
        }

        @GetMapping("/reviews/{product}") // no thread waits for the future; a rejection is answered 503
        CompletableFuture<String> review(@PathVariable long product) throws InterruptedException {
            return partner.review(product);
        }
    }
}
