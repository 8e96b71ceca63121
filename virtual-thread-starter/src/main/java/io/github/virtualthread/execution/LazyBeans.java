package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Beans of the application that calls need, looked up at the first call, because an engine is created before most other
 * beans.
 */
final class LazyBeans<T> {

    private static final Logger logger = LoggerFactory.getLogger(LazyBeans.class);

    private final String what;
    private final Supplier<? extends List<T>> lookup;
    private volatile @Nullable List<T> found;

    /**
     * Creates the list; nothing is looked up yet.
     *
     * @param what what the beans are, for the log
     * @param lookup called at the first call, and again at the next if it throws
     */
    LazyBeans(String what, Supplier<? extends List<T>> lookup) {
        this.what = what;
        this.lookup = lookup;
    }

    /** All beans, in their order; none while they are not available. */
    List<T> get() {
        List<T> known = found;
        return known == null ? lookUp() : known;
    }

    /** Without a lock: two first calls at the same time may both look them up, and find the same. */
    private List<T> lookUp() {
        try {
            List<T> beans = List.copyOf(lookup.get());
            found = beans;
            return beans;
        } catch (Throwable failure) {
            SafeLog.write(() -> logger.error("{} are not available yet", what, failure));
            return List.of();
        }
    }
}
