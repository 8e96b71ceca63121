package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import org.springframework.http.HttpStatus;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/** Work that needs one of few places, as a query needs a connection. Its queue is fair, and nobody waits in it for ever. */
final class FairPool implements DoorServer.Work {

    private final Semaphore places;
    private final Duration timeout;
    private final Duration work;
    private final CountDownLatch closed = new CountDownLatch(1);

    FairPool(int places, Duration timeout, Duration work) {
        this.places = new Semaphore(places, true);
        this.timeout = timeout;
        this.work = work;
    }

    // shown
    @Override
    public ServerResponse serve(ServerRequest request) throws InterruptedException {
        if (!places.tryAcquire(timeout.toNanos(), NANOSECONDS)) {
            return ServerResponse.status(HttpStatus.SERVICE_UNAVAILABLE).build();
        }
        try {
            boolean unused = closed.await(work.toNanos(), NANOSECONDS); // the work: it only takes time
            return ServerResponse.ok().body("done");
        } finally {
            places.release();
        }
    }
    // shown

    /** All work ends, so that whoever waits is served at once. */
    @Override
    public void close() {
        closed.countDown();
    }
}
