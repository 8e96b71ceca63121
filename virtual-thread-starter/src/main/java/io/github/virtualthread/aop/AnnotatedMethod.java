package io.github.virtualthread.aop;

import io.github.virtualthread.Limited;
import java.lang.reflect.Method;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Bean;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;

/**
 * A method to which an annotation applies.
 *
 * @param type class of the bean; the interface that declares the method if the class is generated or not known yet
 * @param method the method that runs
 * @param declarations {@code method} and the methods that it overrides or implements, nearest first
 * @param declaration annotation that applies
 * @param carrier type that has the annotation, null if a method has it
 * @param both whether {@code @Limited} applies too, which is a mistake
 */
record AnnotatedMethod(
        Class<?> type,
        Method method,
        List<Method> declarations,
        Declaration declaration,
        @Nullable Class<?> carrier,
        boolean both) {

    private static final String CONTINUATION = "kotlin.coroutines.Continuation";

    /** Class and method, as users write it. */
    String qualifiedName() {
        return type.getName() + "." + method.getName();
    }

    /** Name of the task if the annotation gives none: simple name of the bean's class and name of the method. */
    String defaultName() {
        String simple = type.getSimpleName();
        String shown =
                simple.isEmpty() ? type.getName().substring(type.getName().lastIndexOf('.') + 1) : simple;
        return shown + "." + method.getName();
    }

    /** The annotation, as messages show it. */
    String annotation() {
        return "@" + declaration.type().getSimpleName();
    }

    /** Whether the method runs on its caller's thread, which waits for the permit. */
    boolean isLimited() {
        return declaration.type() == Limited.class;
    }

    /** Where the annotation is, as users write it. */
    String place() {
        return carrier == null ? qualifiedName() : carrier.getName();
    }

    /** The method whose parameters the attributes of the annotation refer to: the nearest that has it or whose type has it. */
    Method annotatedDeclaration() {
        for (Method each : declarations) {
            Method written = BridgeMethodResolver.findBridgedMethod(each);
            if (hasAnnotation(written)) {
                return written;
            }
        }
        return method;
    }

    private boolean hasAnnotation(Method written) {
        if (carrier == null) {
            return Declaration.of(written, declaration.type()) != null;
        }
        return written.getDeclaringClass() == carrier;
    }

    /** Declared type of a parameter of the method that runs; unknown if there is no such parameter. */
    ResolvableType parameterType(int index) {
        return index < 0 ? ResolvableType.NONE : ResolvableType.forMethodParameter(method, index, type);
    }

    boolean returnsNothing() {
        Class<?> returned = method.getReturnType();
        return returned == void.class || returned.getName().equals("kotlin.Unit");
    }

    boolean returnsFuture() {
        Class<?> returned = method.getReturnType();
        return returned == CompletableFuture.class || returned == CompletionStage.class || returned == Future.class;
    }

    boolean isSuspending() {
        Class<?>[] parameters = method.getParameterTypes();
        return parameters.length > 0
                && parameters[parameters.length - 1].getName().equals(CONTINUATION);
    }

    boolean isBeanMethod() {
        return MergedAnnotations.from(method).isPresent(Bean.class);
    }

    /** Whether one of the declarations has an annotation. It is looked up by its type, because others may contradict themselves. */
    boolean has(String annotationType) {
        return declarations.stream()
                .anyMatch(each -> MergedAnnotations.from(each).isPresent(annotationType));
    }

    /** Whether advice can do what the annotation asks for. If it cannot, the check at start-up says why. */
    boolean isAdvisable() {
        return (isLimited() || returnsNothing() || returnsFuture()) && !isSuspending() && !isBeanMethod();
    }

    boolean isDeclaredByInterface() {
        return declarations.stream().anyMatch(each -> each.getDeclaringClass().isInterface());
    }

    boolean is(int modifier) {
        return (method.getModifiers() & modifier) != 0;
    }
}
