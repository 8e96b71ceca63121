package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.execution.VirtualThreads;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

/** The parts of a page, in the ways in which they may be got. */
@Service
class PageParts {

    private final VirtualThreads threads;

    PageParts(VirtualThreads threads) {
        this.threads = threads;
    }

    // shown
    @Async
    <T> CompletableFuture<T> async(Callable<T> part) throws Exception {
        return completedFuture(part.call());
    }

    @VirtualThread
    <T> CompletableFuture<T> virtual(Callable<T> part) throws Exception {
        return completedFuture(part.call());
    }

    <T> List<T> all(List<Callable<T>> parts) throws Exception {
        return threads.all(parts);
    }
    // shown
}
