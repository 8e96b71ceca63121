package io.github.virtualthread.config;

import io.github.virtualthread.aop.Findings.AdvisedMethod;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;

/** The advised methods that the checks found, in all contexts that share one engine; complete once each has started. */
public final class AdvisedMethods {

    private final AtomicReference<List<AdvisedMethod>> found = new AtomicReference<>(List.of());

    AdvisedMethods() {}

    void add(List<AdvisedMethod> methods) {
        if (!methods.isEmpty()) {
            found.accumulateAndGet(methods, AdvisedMethods::joined);
        }
    }

    private static List<AdvisedMethod> joined(List<AdvisedMethod> before, List<AdvisedMethod> methods) {
        Set<AdvisedMethod> all = new LinkedHashSet<>(before);
        all.addAll(methods);
        return List.copyOf(all);
    }

    /**
     * All advised methods, once each. Beans whose class is unknown before they are created, such as products of a factory,
     * are not included.
     *
     * @return unmodifiable, in the order in which they were found
     */
    public List<AdvisedMethod> all() {
        return Objects.requireNonNull(found.get());
    }
}
