package io.github.virtualthread.config;

import io.github.virtualthread.aop.Findings.AdvisedMethod;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The advised methods that the checks found, in all contexts that share one engine; complete once each has started. */
public final class AdvisedMethods {

    private final CopyOnWriteArrayList<AdvisedMethod> found = new CopyOnWriteArrayList<>();

    AdvisedMethods() {}

    void add(List<AdvisedMethod> methods) {
        found.addAllAbsent(methods);
    }

    /**
     * All advised methods, once each. Beans whose class is unknown before they are created, such as products of a factory,
     * are not included.
     *
     * @return unmodifiable, in the order in which they were found
     */
    public List<AdvisedMethod> all() {
        return List.copyOf(found);
    }
}
