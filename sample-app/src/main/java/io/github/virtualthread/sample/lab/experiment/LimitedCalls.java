package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.springframework.stereotype.Service;

/** Calls under the limit of the lab. */
@Service
class LimitedCalls {

    // shown
    @VirtualThread("lab")
    CompletableFuture<Void> call(Duration time) throws InterruptedException {
        Thread.sleep(time);
        return completedFuture(null);
    }
    // shown
}
