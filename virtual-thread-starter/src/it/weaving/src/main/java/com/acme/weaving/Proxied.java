package com.acme.weaving;

import static java.util.concurrent.CompletableFuture.completedFuture;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;

/** A bean that proxies can be made of. */
public class Proxied {

    @VirtualThread("mail")
    public CompletableFuture<Thread> send() {
        Trace.add("send");
        return completedFuture(Thread.currentThread());
    }

    public CompletableFuture<Thread> sendByItself() {
        return send();
    }
}
