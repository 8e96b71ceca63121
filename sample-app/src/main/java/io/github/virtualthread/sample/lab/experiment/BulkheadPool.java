package io.github.virtualthread.sample.lab.experiment;

import io.github.resilience4j.bulkhead.Bulkhead;
import io.github.resilience4j.bulkhead.BulkheadConfig;
import io.github.resilience4j.bulkhead.BulkheadFullException;
import java.time.Duration;
import org.springframework.http.HttpStatus;
import org.springframework.web.servlet.function.ServerRequest;
import org.springframework.web.servlet.function.ServerResponse;

/** A pool behind a bulkhead with as many permits, for which requests wait on their own threads. */
final class BulkheadPool implements DoorServer.Work {

    private final FairPool pool;
    private final Bulkhead bulkhead;

    BulkheadPool(FairPool pool, int places, Duration longestWait) {
        this.pool = pool;
        this.bulkhead = Bulkhead.of(
                "pool",
                BulkheadConfig.custom()
                        .maxConcurrentCalls(places)
                        .maxWaitDuration(longestWait)
                        .build());
    }

    // shown
    @Override
    public ServerResponse serve(ServerRequest request) throws Exception {
        try {
            return bulkhead.executeCallable(() -> pool.serve(request));
        } catch (BulkheadFullException full) {
            return ServerResponse.status(HttpStatus.SERVICE_UNAVAILABLE).build();
        }
    }
    // shown

    @Override
    public void close() {
        pool.close();
    }
}
