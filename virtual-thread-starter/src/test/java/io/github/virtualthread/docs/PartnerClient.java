package io.github.virtualthread.docs;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongFunction;

// example: PartnerClient
class PartnerClient {

    private final Semaphore permits = new Semaphore(10, true);
    private final LongFunction<String> http;

    PartnerClient(LongFunction<String> http) {
        this.http = http;
    }

    String reviews(long id) throws InterruptedException, TimeoutException {
        if (!permits.tryAcquire(2, TimeUnit.SECONDS)) {
            throw new TimeoutException("The partner is busy");
        }
        try {
            return http.apply(id);
        } finally {
            permits.release();
        }
    }
}
// end
