package io.github.virtualthread.config;

import io.github.virtualthread.aop.Findings.AdvisedMethod;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArraySet;

/** The advised methods that the checks have found, in all contexts that use one engine; known once each has started. */
public final class AdvisedMethods {

    private final Set<AdvisedMethod> found = new CopyOnWriteArraySet<>();

    AdvisedMethods() {}

    void add(Collection<AdvisedMethod> methods) {
        found.addAll(methods);
    }

    /**
     * All advised methods, once each. A bean whose class is not known before it is created, such as the product of a
     * factory, is not among them.
     *
     * @return unmodifiable, in the order in which they were found
     */
    public List<AdvisedMethod> all() {
        return List.copyOf(found);
    }
}
