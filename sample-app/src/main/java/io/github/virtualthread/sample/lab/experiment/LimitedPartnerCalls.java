package io.github.virtualthread.sample.lab.experiment;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;

/** Calls under a limit: of this replica alone, or shared by all, as its settings say. A bean in the JVM of a replica only. */
class LimitedPartnerCalls implements ReplicaServer.Calls {

    private final CountingPartner.Client partner;

    LimitedPartnerCalls(CountingPartner.Client partner) {
        this.partner = partner;
    }

    // shown
    @Override
    @VirtualThread("partner")
    public CompletableFuture<Void> call() {
        partner.call();
        return completedFuture(null);
    }
    // shown
}
