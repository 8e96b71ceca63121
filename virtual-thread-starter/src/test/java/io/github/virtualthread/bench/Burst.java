package io.github.virtualthread.bench;

import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Many calls of one contender, made by one thread. */
final class Burst implements AutoCloseable {

    private final Contender contender;
    private final @Nullable Future<?>[] futures;

    Burst(String contender, int permits, int calls, Callable<?> body) {
        Bench.fillMdc(contender);
        this.contender = Contender.of(contender, permits, body);
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
