package io.github.virtualthread.execution;

import io.github.virtualthread.context.SafeLog;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the application hangs on calls, looked up when the first is made: an engine is made before most other beans. */
final class LazyBeans<T> {

    private static final Logger logger = LoggerFactory.getLogger(LazyBeans.class);

    private final String what;
    private final Supplier<? extends List<T>> lookup;
    private volatile @Nullable List<T> found;

    /**
     * Creates the list; nothing is looked up yet.
     *
     * @param what what the beans are, for the log
     * @param lookup asked at the first call, and again at the next as long as it throws
     */
    LazyBeans(String what, Supplier<? extends List<T>> lookup) {
        this.what = what;
        this.lookup = lookup;
    }

    /** All there are, in order; none as long as they cannot be had. */
    List<T> get() {
        List<T> known = found;
        return known == null ? lookUp() : known;
    }

    /** Without a lock: two first calls at once may both look, and find the same. */
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
