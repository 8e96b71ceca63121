package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;
import static java.util.concurrent.TimeUnit.SECONDS;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import org.redisson.api.RPermitExpirableSemaphore;

/** Calls that each ask Redis for a permit, and give it back. A bean in the JVM of a replica only. */
class PermitPartnerCalls implements ReplicaServer.Calls {

    private final CountingPartner.Client partner;
    private final RPermitExpirableSemaphore permits;
    private final int lease;

    PermitPartnerCalls(CountingPartner.Client partner, RPermitExpirableSemaphore permits, int lease) {
        this.partner = partner;
        this.permits = permits;
        this.lease = lease;
    }

    // shown
    @Override
    @VirtualThread
    public CompletableFuture<Void> call() throws InterruptedException {
        String permit = permits.acquire(lease, SECONDS); // of Redisson: asks Redis, for each call
        try {
            partner.call();
        } finally {
            permits.release(permit);
        }
        return completedFuture(null);
    }
    // shown
}
