package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;

/** Checks that an annotated method can run as its annotation says. */
final class SignatureChecks {

    private static final List<String> ASYNC = List.of(
            "org.springframework.scheduling.annotation.Async",
            "jakarta.ejb.Asynchronous",
            "jakarta.enterprise.concurrent.Asynchronous");

    Stream<Mistake> check(AnnotatedMethod method, Class<?> type) {
        String contradiction = method.declaration().contradiction();
        if (contradiction != null) {
            return Stream.of(Contradiction.mistake(method.annotation(), method.place(), contradiction));
        }
        if (method.both()) {
            return Stream.of(new Mistake(
                    "%s has both %s and @Limited; %s already names the limit"
                            .formatted(method.place(), method.annotation(), method.annotation()),
                    "Remove @Limited, or remove %s if the method is meant to run on its caller's thread."
                            .formatted(method.annotation())));
        }
        if (method.isBeanMethod()) {
            return Stream.of(new Mistake(
                    "%s is a @Bean method; %s would advise the configuration class, not the bean"
                            .formatted(method.qualifiedName(), method.annotation()),
                    "Put %s on the methods of the bean's class.".formatted(method.annotation())));
        }
        return Stream.of(returnType(method, type), async(method, type)).filter(mistake -> mistake != null);
    }

    private @Nullable Mistake returnType(AnnotatedMethod method, Class<?> type) {
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
                method.carrier() == null
                        ? "Return a CompletableFuture, such as completedFuture(value), or remove %s. For a limit on the caller's own thread use @Limited, which allows any return type."
                                .formatted(method.annotation())
                        : "Remove %s from %s and annotate single methods instead, or return a CompletableFuture."
                                .formatted(method.annotation(), method.place()));
    }

    private @Nullable Mistake async(AnnotatedMethod method, Class<?> type) {
        if (ASYNC.contains(method.declaration().type().getName())) {
            return null;
        }
        return ASYNC.stream()
                .filter(each -> isAsync(each, method, type))
                .findFirst()
                .map(each -> "@" + each.substring(each.lastIndexOf('.') + 1))
                .map(each -> new Mistake(
                        "%s has both %s and %s: %s"
                                .formatted(
                                        method.qualifiedName(),
                                        each,
                                        method.annotation(),
                                        method.isLimited()
                                                ? "the permit would be returned before the work begins"
                                                : "the call would be moved to another thread twice"),
                        "Remove %s to use %s, or remove %2$s.".formatted(each, method.annotation())))
                .orElse(null);
    }

    /** Spring reads the annotation from the method, and for all methods of a class from the class and its supertypes. */
    private static boolean isAsync(String annotation, AnnotatedMethod method, Class<?> type) {
        return MergedAnnotations.from(type, SearchStrategy.TYPE_HIERARCHY).isPresent(annotation)
                || method.declarations().stream()
                        .anyMatch(each -> MergedAnnotations.from(each).isPresent(annotation));
    }
}
