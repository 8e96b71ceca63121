package io.github.virtualthread.autoconfigure;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Throws whatever it is to throw, and knows how often it did. */
final class Breaker {

    private final Supplier<Throwable> failure;
    private final AtomicInteger strikes = new AtomicInteger();
    private volatile @Nullable Throwable last;

    Breaker(Supplier<Throwable> failure) {
        this.failure = failure;
    }

    /** What was thrown last. */
    @Nullable
    Throwable last() {
        return last;
    }

    int strikes() {
        return strikes.get();
    }

    /** Never returns: what it is said to return makes it fit wherever a value is due. */
    <T> T strike() {
        strikes.incrementAndGet();
        last = failure.get();
        throw Breaker.<RuntimeException>sneaky(last);
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T sneaky(Throwable failure) throws T {
        throw (T) failure;
    }
}
