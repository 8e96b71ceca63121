package io.github.virtualthread.config;

import io.github.virtualthread.cluster.ClusterEngine;
import java.util.function.Supplier;
import org.springframework.beans.factory.ObjectProvider;

/**
 * Looks the engine up at the first exchange. Not a lambda of {@link EngineBeans}: Spring loads what the methods of a bean return, also
 * if no limit is shared.
 */
record ClusterEngineLookup(ObjectProvider<ClusterEngine> engines) implements Supplier<ClusterEngine> {

    /**
     * Spring lets a thread wait for the one that starts the context if both are named alike, as if neither has a name. The other
     * one may wait for a call that needs the engine.
     */
    @Override
    public ClusterEngine get() {
        Thread thread = Thread.currentThread();
        String before = thread.getName();
        thread.setName("virtual-thread-cluster");
        try {
            return engines.getObject();
        } finally {
            thread.setName(before);
        }
    }
}
