package com.acme.weaving;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

public class Base {

    @VirtualThread("single")
    public CompletionStage<String> send() {
        Trace.add("base");
        return CompletableFuture.completedFuture("base");
    }
}
