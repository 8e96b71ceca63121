package io.github.virtualthread.aop;

import io.github.virtualthread.aop.CreatedBeans.Created;
import io.github.virtualthread.aop.Findings.AdvisedMethod;
import io.github.virtualthread.mistake.Mistake;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/** Finds all mistakes in the annotated methods of one class; inspects each class once. */
final class MethodChecks {

    private static final List<String> ASYNC = List.of(
            "org.springframework.scheduling.annotation.Async",
            "jakarta.ejb.Asynchronous",
            "jakarta.enterprise.concurrent.Asynchronous");

    private final AnnotatedMethods methods;
    private final SettingsChecks settings;
    private final Reach reach;
    private final Map<Created, Checked> known = new ConcurrentHashMap<>();

    MethodChecks(AnnotatedMethods methods, SettingsChecks settings, Reach reach) {
        this.methods = methods;
        this.settings = settings;
        this.reach = reach;
    }

    /** Checks the class of a bean. */
    Checked check(Created bean) {
        Checked checked = known.get(bean);
        if (checked == null) {
            checked = inspect(bean.type(), bean.classProxy());
            known.put(bean, checked);
        }
        return checked;
    }

    /** What is wrong with a bean: that it could not be proxied, unless a mistake in its class is the reason. */
    List<Mistake> mistakes(Created bean, @Nullable Mistake failure) {
        List<Mistake> found = check(bean).mistakes();
        return found.isEmpty() && failure != null ? List.of(failure) : found;
    }

    private Checked inspect(Class<?> type, boolean classProxy) {
        List<Mistake> mistakes = new ArrayList<>();
        Map<AnnotatedMethod, AdvisedMethod> advised = new LinkedHashMap<>();
        Stream.ofNullable(reach.checkClass(type, classProxy)).forEach(mistakes::add);
        for (AnnotatedMethod method : methods.in(type)) {
            Mistake unreachable = reach.checkMethod(method, type, classProxy);
            if (unreachable != null && !reach.requires(method)) {
                continue;
            }
            List<Mistake> found = settings.check(method);
            if (unreachable != null) {
                found.add(unreachable);
            }
            found.addAll(checkSignature(method, type));
            mistakes.addAll(found);
            if (found.isEmpty()) {
                AdvisedMethod call = settings.calls().of(method);
                advised.put(method, call);
                if (call.key() != null && call.limit() == null) {
                    MethodWarnings.keyWithoutLimit(method);
                }
            }
        }
        return new Checked(mistakes.stream().distinct().toList(), advised);
    }

    /** Whether the method can run as its annotation says. */
    private static List<Mistake> checkSignature(AnnotatedMethod method, Class<?> type) {
        String contradiction = method.declaration().contradiction();
        if (contradiction != null) {
            return List.of(Contradiction.mistake(method.annotation(), method.place(), contradiction));
        }
        if (method.both()) {
            return List.of(new Mistake(
                    "%s has both %s and @Limited; %s already names the limit"
                            .formatted(method.place(), method.annotation(), method.annotation()),
                    "Remove @Limited, or remove %s if the method is meant to run on its caller's thread."
                            .formatted(method.annotation())));
        }
        if (method.isBeanMethod()) {
            return List.of(new Mistake(
                    "%s is a @Bean method; %s would advise the configuration class, not the bean"
                            .formatted(method.qualifiedName(), method.annotation()),
                    "Put %s on the methods of the bean's class.".formatted(method.annotation())));
        }
        return Stream.of(checkReturnType(method, type), checkAsync(method, type))
                .filter(Objects::nonNull)
                .toList();
    }

    private static @Nullable Mistake checkReturnType(AnnotatedMethod method, Class<?> type) {
        if (method.isSuspending()) {
            return new Mistake(
                    "%s is a suspending function, which %s does not support"
                            .formatted(method.qualifiedName(), method.annotation()),
                    "Make it a regular function%s, or remove %s."
                            .formatted(
                                    method.isLimited() ? "" : " that returns CompletableFuture", method.annotation()));
        }
        if (method.isLimited() || method.returnsNothing() || method.returnsFuture()) {
            return null;
        }
        String returned = method.method().getReturnType().getTypeName();
        if (returned.equals("java.lang.Object") && method.is(type.getModifiers() & Modifier.ABSTRACT)) {
            return null; // as in a generic interface: checked again when the class is known
        }
        return new Mistake(
                "%s returns %s, but a method with %s must return exactly void, Future, CompletionStage or CompletableFuture"
                        .formatted(method.qualifiedName(), returned, method.annotation()),
                returnFuture(method));
    }

    private static String returnFuture(AnnotatedMethod method) {
        if (method.carrier() == null) {
            return "Return a CompletableFuture, such as completedFuture(value), or remove %s. For a limit on the caller's own thread use @Limited, which allows any return type."
                    .formatted(method.annotation());
        }
        return "Remove %s from %s and annotate single methods instead, or return a CompletableFuture."
                .formatted(method.annotation(), method.place());
    }

    private static @Nullable Mistake checkAsync(AnnotatedMethod method, Class<?> type) {
        if (ASYNC.contains(method.declaration().type().getName())) {
            return null;
        }
        for (String each : ASYNC) {
            // Spring reads it from the method, and for all methods of a class from the class and its supertypes
            if (method.has(each)
                    || MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY)
                            .isPresent(each)) {
                String async = "@" + each.substring(each.lastIndexOf('.') + 1);
                String problem = "the call would be moved to another thread twice";
                if (method.isLimited()) {
                    problem = "the permit would be returned before the work begins";
                }
                return new Mistake(
                        "%s has both %s and %s: %s"
                                .formatted(method.qualifiedName(), async, method.annotation(), problem),
                        "Remove %s to use %s, or remove %2$s.".formatted(async, method.annotation()));
            }
        }
        return null;
    }

    /** Whether calls of annotated methods can be intercepted, by the means of the mode. */
    interface Reach {

        /** Why calls of a class cannot be intercepted, null if they can: a final or sealed class can be woven. */
        default @Nullable Mistake checkClass(Class<?> type, boolean classProxy) {
            return null;
        }

        /** Why calls of a method cannot be intercepted, null if they can. */
        @Nullable
        Mistake checkMethod(AnnotatedMethod method, Class<?> type, boolean classProxy);

        /** Whether a method whose calls cannot be intercepted is a mistake; otherwise the annotation does not cover it. */
        default boolean requires(AnnotatedMethod method) {
            return true;
        }

        /** Summarizes the mistakes of all classes; one may replace many. */
        default List<Mistake> summarize(List<Mistake> mistakes) {
            return mistakes;
        }
    }

    /**
     * Result of the checks of one class.
     *
     * @param advised methods without mistakes, each with how it is shown
     */
    record Checked(List<Mistake> mistakes, Map<AnnotatedMethod, AdvisedMethod> advised) {}
}
