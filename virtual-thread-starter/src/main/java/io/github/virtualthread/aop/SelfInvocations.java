package io.github.virtualthread.aop;

import io.github.virtualthread.bytecode.SelfCalls;
import io.github.virtualthread.bytecode.SelfCalls.SelfCall;
import io.github.virtualthread.mistake.Mistake;
import java.lang.reflect.Method;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the calls of advised methods that no proxy sees because an object makes them to itself, or because Spring makes them
 * on the bean itself when it creates or destroys it. Looks into the class, its superclasses and interfaces, except those of
 * Java and of Spring.
 *
 * <p>Not thread-safe.
 */
final class SelfInvocations {

    private static final Logger logger = LoggerFactory.getLogger(SelfInvocations.class);

    /**
     * The methods that a class was found not to call on its own objects: nearly all classes, and each context of the JVM asks
     * again.
     */
    private static final PerClass<AtomicReference<Set<Method>>> notCalled =
            new PerClass<>(type -> new AtomicReference<>(Set.of()));

    private final SelfCalls calls = new SelfCalls();

    /**
     * Finds the calls on objects of one class.
     *
     * @param type class of a bean
     * @param classProxy whether its proxy is a subclass rather than an implementation of its interfaces
     * @param advised methods of the class that its proxy advises
     */
    Set<Mistake> in(Class<?> type, boolean classProxy, Collection<AnnotatedMethod> advised) {
        Set<Mistake> found = new LinkedHashSet<>();
        advised.forEach(method -> LifeCycle.callOnBean(method).ifPresent(reason -> found.add(mistake(method, reason))));
        try {
            if (!advised.isEmpty()) {
                found.addAll(find(type, classProxy, advised));
            }
        } catch (RuntimeException | LinkageError failure) {
            logger.debug(
                    "Self-invocations of {} are not found, because a class file cannot be read",
                    type.getName(),
                    failure);
        }
        return found;
    }

    private Set<Mistake> find(Class<?> type, boolean classProxy, Collection<AnnotatedMethod> advised) {
        Map<Method, AnnotatedMethod> targets = new HashMap<>();
        advised.forEach(method -> method.declarations().forEach(each -> targets.put(each, method)));
        AtomicReference<Set<Method>> known = notCalled.get(type);
        if (targets.keySet().equals(known.get())) {
            return Set.of();
        }
        Set<Mistake> found = new LinkedHashSet<>();
        for (SelfCall call : calls.find(TypeHierarchy.withCodeOfUsers(type), targets.keySet())) {
            AnnotatedMethod target = Objects.requireNonNull(targets.get(call.callee()));
            found.add(mistake(call.place(), target, classProxy ? call.type() : provided(call.type(), target)));
        }
        if (found.isEmpty()) {
            known.set(Set.copyOf(targets.keySet()));
        }
        return found;
    }

    /** The type by which an interface proxy can be asked for. */
    private static Class<?> provided(Class<?> type, AnnotatedMethod method) {
        for (Method each : method.declarations()) {
            if (each.getDeclaringClass().isInterface()) {
                return each.getDeclaringClass();
            }
        }
        return type;
    }

    private static Mistake mistake(AnnotatedMethod callback, String reason) {
        String annotation = callback.annotation();
        return new Mistake(
                "Spring calls %s (%s) on the bean itself%s"
                        .formatted(callback.qualifiedName(), reason, consequence(callback)),
                "Remove %s. For work at the start, put %s on a method with @EventListener(ApplicationReadyEvent.class)."
                        .formatted(annotation, annotation));
    }

    private static Mistake mistake(StackTraceElement place, AnnotatedMethod target, Class<?> provided) {
        String called = target.method().getName();
        return new Mistake(
                "%s calls %s.%s on its own object%s"
                        .formatted(place, target.method().getDeclaringClass().getName(), called, consequence(target)),
                ("Move %s to another bean, or inject ObjectProvider<%s> and call getObject().%s(..). If the call is meant to run on"
                                + " the caller's thread, call a method without %s.")
                        .formatted(called, provided.getSimpleName(), called, target.annotation()));
    }

    private static String consequence(AnnotatedMethod target) {
        return ": the call bypasses the proxy, which applies %s, so it runs on the caller's thread and takes no permit"
                .formatted(target.annotation());
    }
}
