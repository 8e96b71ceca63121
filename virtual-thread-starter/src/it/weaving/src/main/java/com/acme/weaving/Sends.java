package com.acme.weaving;

import java.util.concurrent.CompletableFuture;

/** Generic, so that an implementation has a bridge. */
public interface Sends<T> {

    CompletableFuture<Thread> send(T text);
}
