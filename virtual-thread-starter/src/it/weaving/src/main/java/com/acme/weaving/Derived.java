package com.acme.weaving;

import io.github.virtualthread.VirtualThread;
import java.util.concurrent.CompletionStage;

/** Overrides, and calls what it overrides under the same limit of one permit. */
public class Derived extends Base {

    @Override
    @VirtualThread("single")
    public CompletionStage<String> send() {
        Trace.add("derived");
        return super.send();
    }
}
