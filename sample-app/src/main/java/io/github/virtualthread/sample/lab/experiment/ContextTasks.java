package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

/** The same work with both annotations: it logs, it is cancelled, it fails. */
@Service
class ContextTasks {

    static final Logger log = LoggerFactory.getLogger(ContextTasks.class);

    // shown
    @Async
    CompletableFuture<Void> logAsync() {
        log.info("Order 4711 has been sent");
        return completedFuture(null);
    }

    @VirtualThread
    CompletableFuture<Void> logVirtual() {
        log.info("Order 4711 has been sent");
        return completedFuture(null);
    }

    @Async
    CompletableFuture<Void> workAsync(Duration time, Work work) {
        work.run(time);
        return completedFuture(null);
    }

    @VirtualThread
    CompletableFuture<Void> workVirtual(Duration time, Work work) {
        work.run(time);
        return completedFuture(null);
    }

    @Async
    CompletableFuture<Void> failAsync() {
        throw new IllegalStateException("Order 4711 has no address");
    }

    @VirtualThread
    CompletableFuture<Void> failVirtual() {
        throw new IllegalStateException("Order 4711 has no address");
    }
    // shown

    /** Something that takes its time. */
    @FunctionalInterface
    interface Work {
        void run(Duration time);
    }
}
