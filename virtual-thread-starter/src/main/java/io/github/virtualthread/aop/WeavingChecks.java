package io.github.virtualthread.aop;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.mistake.Mistake;
import java.lang.annotation.Annotation;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotations;

/** Checks that annotated methods are woven, in mode ASPECTJ. */
final class WeavingChecks implements MethodChecks.Reach {

    private final AnnotatedMethods methods;
    private final boolean weaverNeeded;
    private final @Nullable ClassLoader classLoader;
    private final Set<Mistake> notWoven = ConcurrentHashMap.newKeySet();
    private volatile boolean anyWoven;

    /**
     * Creates the checks of one context.
     *
     * @param weaverNeeded whether annotated methods are intercepted at all
     */
    WeavingChecks(AnnotatedMethods methods, boolean weaverNeeded, @Nullable ClassLoader classLoader) {
        this.methods = methods;
        this.weaverNeeded = weaverNeeded;
        this.classLoader = classLoader;
    }

    @Override
    public @Nullable Mistake checkMethod(AnnotatedMethod method, Class<?> type, boolean classProxy) {
        // a bean that is known by its interface alone is checked when it is created
        if (!weaverNeeded || type.isInterface() || method.isBeanMethod()) {
            return null;
        }
        if (AspectJRuntime.isWoven(method.method())) {
            anyWoven = true;
            return null;
        }
        if (!isItselfAnnotated(method)) {
            return annotatedElsewhere(method);
        }
        Mistake mistake = notWoven(method.method().getDeclaringClass());
        notWoven.add(mistake);
        return mistake;
    }

    /** AspectJ looks at the method that has the body, and at the class that declares it. */
    private static boolean isItselfAnnotated(AnnotatedMethod method) {
        if (method.carrier() == null) {
            return Declaration.of(method.method(), method.declaration().type()) != null;
        }
        return method.carrier() == method.method().getDeclaringClass();
    }

    private Mistake notWoven(Class<?> declaring) {
        return new Mistake(
                "%s has methods with %s, but is not woven: they would run on the caller's thread and take no permit"
                        .formatted(declaring.getName(), methods.annotations(declaring)),
                "With the agent, check that no <include> or <exclude> in META-INF/aop.xml leaves the class out, and that the"
                        + " class is loaded after the agent has started. At compile time, weave the module that contains it.");
    }

    private static Mistake annotatedElsewhere(AnnotatedMethod method) {
        return new Mistake(
                "%s gets %s from an interface or a superclass, where AspectJ does not see it, so it is not woven"
                        .formatted(method.qualifiedName(), method.annotation()),
                ("Put %s on the method of the class too. A bean without a class of your own, such as a repository, cannot be"
                                + " woven: call it from an annotated method.")
                        .formatted(method.annotation()));
    }

    /** Replaces mistakes that have a common reason by that reason. */
    @Override
    public List<Mistake> summarize(List<Mistake> mistakes) {
        Mistake reason = reason();
        List<Mistake> summary = new ArrayList<>(mistakes);
        if (reason != null) {
            summary.removeAll(notWoven);
            summary.add(0, reason);
        }
        return summary;
    }

    private @Nullable Mistake reason() {
        if (!isWovenFor(methods.annotationType())) {
            return new Mistake(
                    ("@EnableVirtual sets mode ASPECTJ and annotation %s, which the aspect does not know, because it is not"
                                    + " annotated with @VirtualThread")
                            .formatted(methods.annotationType().getName()),
                    "Put @VirtualThread on %s, or use mode PROXY."
                            .formatted(methods.annotationType().getSimpleName()));
        }
        if (!weaverNeeded) {
            return null;
        }
        boolean isPresent = AspectJRuntime.isOnClassPath(classLoader);
        if (isPresent && (anyWoven || notWoven.isEmpty() || AspectJRuntime.isAgent())) {
            return null;
        }
        String problem = "AspectJ is not on the classpath";
        String start = "Add the dependency org.aspectj:aspectjweaver, and start";
        if (isPresent) {
            problem =
                    "no class with annotated methods is woven: the calls would run on their callers' threads and take no permits";
            start = "Start";
        }
        return new Mistake(
                "Mode ASPECTJ is set, but " + problem,
                start
                        + " the JVM, and that of the tests, with -javaagent:/path/to/aspectjweaver-<version>.jar, or weave at"
                        + " compile time; docs/weaving.md describes both. Or use mode PROXY.");
    }

    private static boolean isWovenFor(Class<? extends Annotation> annotationType) {
        return annotationType == VirtualThread.class
                || annotationType == Limited.class
                || MergedAnnotations.from(annotationType).isPresent(VirtualThread.class);
    }
}
