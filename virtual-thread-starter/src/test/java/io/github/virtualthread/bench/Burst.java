package io.github.virtualthread.bench;

import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/** Many calls of one contender, made by one thread. Limits have 64 permits. */
final class Burst implements AutoCloseable {

    private static final int PERMITS = 64;

    /** The other contenders carry none. */
    private static final Set<String> WITH_MDC =
            Set.of("by-hand", "async-pool", "async-limited", "async-full", "spring-7", "ours-async", "ours-full");

    private final Contender contender;
    private final @Nullable Future<?>[] futures;

    /**
     * Starts the contender.
     *
     * @param keys how many the caller has in its MDC, if the contender carries that; the first is {@code request}
     */
    Burst(String contender, int keys, int calls, Callable<?> body) {
        for (int i = 0; i < keys && WITH_MDC.contains(contender); i++) {
            MDC.put(i == 0 ? "request" : "key-" + i, "0123456789abcdef-" + i);
        }
        this.contender = Contender.of(contender, PERMITS, body);
        this.futures = new Future<?>[calls];
    }

    /** Makes the calls and waits for none of them. */
    void start() throws Exception {
        start(call -> {});
    }

    /** Makes the calls, each with something done before it. */
    void start(IntConsumer before) throws Exception {
        for (int i = 0; i < futures.length; i++) {
            before.accept(i);
            futures[i] = contender.call();
        }
    }

    /** Waits for them and lets go of what they returned. */
    void join() throws Exception {
        for (int i = 0; i < futures.length; i++) {
            futures[i].get();
            futures[i] = null;
        }
    }

    @Override
    public void close() {
        contender.end().run();
    }
}
