package io.github.virtualthread.aop;

import java.util.function.Function;

/** A value for each class, kept with the class and collected with it. */
final class PerClass<T> extends ClassValue<T> {

    private final Function<Class<?>, T> compute;

    PerClass(Function<Class<?>, T> compute) {
        this.compute = compute;
    }

    @Override
    protected T computeValue(Class<?> type) {
        return compute.apply(type);
    }
}
