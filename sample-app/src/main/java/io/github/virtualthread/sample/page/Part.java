package io.github.virtualthread.sample.page;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.github.virtualthread.sample.request.RanOn;
import io.github.virtualthread.sample.request.Stopwatch;
import java.util.function.Supplier;

/**
 * One part of a product page.
 *
 * @param tookMillis how long it took to get the value, without waiting for a thread or a permit
 */
record Part<T>(T value, long tookMillis, @JsonUnwrapped RanOn ranOn) {

    static <T> Part<T> of(Supplier<T> source) {
        var stopwatch = Stopwatch.start();
        T value = source.get();
        return new Part<>(value, stopwatch.millis(), RanOn.here());
    }
}
