package io.github.virtualthread.sample.catalog;

import io.github.virtualthread.sample.request.RanOn;
import java.util.concurrent.CompletableFuture;

/**
 * A product has been added.
 *
 * @param handled completed by the listener, only so that the answer of this sample can name the listener's thread
 */
record ProductAdded(long id, String name, CompletableFuture<RanOn> handled) {

    ProductAdded(long id, String name) {
        this(id, name, new CompletableFuture<>());
    }
}
