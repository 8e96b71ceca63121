package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

/** The same call of a slow partner, in as many ways. */
@Service
class FloodTasks {

    // shown
    void sync(Flood flood, int request) {
        flood.callPartner(request);
    }

    @Async("floodPool")
    void pool(Flood flood, int request) {
        flood.callPartner(request);
    }

    @Async("floodQueue")
    void queue(Flood flood, int request) {
        flood.callPartner(request);
    }

    @VirtualThread("flood")
    CompletableFuture<Void> virtual(Flood flood, int request) {
        flood.callPartner(request);
        return completedFuture(null);
    }
    // shown
}
