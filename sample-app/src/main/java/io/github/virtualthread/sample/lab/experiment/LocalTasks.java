package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.stereotype.Service;

/** Tasks that keep a buffer in a thread-local and do not remove it. */
@Service
class LocalTasks {

    // shown
    @VirtualThread("flood") // 50 permits
    CompletableFuture<Void> limited(Buffers buffers) throws InterruptedException {
        buffers.use();
        return completedFuture(null);
    }

    /** What all tasks of one run share. */
    record Buffers(
            ThreadLocal<byte[]> local,
            int bytes,
            AtomicInteger foreign,
            CountDownLatch begun,
            CountDownLatch gate,
            CountDownLatch done) {

        void use() throws InterruptedException {
            try {
                if (local.get() == null) {
                    local.set(new byte[bytes]);
                } else {
                    foreign.incrementAndGet(); // of a task that had this thread before
                }
                begun.countDown();
                gate.await(); // many tasks have a thread now
            } finally {
                done.countDown();
            }
        }
    }
    // shown
}
