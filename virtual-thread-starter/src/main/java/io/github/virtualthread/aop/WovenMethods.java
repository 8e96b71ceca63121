package io.github.virtualthread.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Which annotated method woven code runs, and which methods are woven. */
final class WovenMethods {

    private WovenMethods() {}

    /**
     * The annotated method that runs, null where it is to run as if it were not annotated: where no annotation applies to it,
     * or it could not do what the annotation asks for, or where a method that overrides it is woven and calls it by {@code
     * super}, on the thread on which that runs already.
     */
    static @Nullable AnnotatedMethod resolve(AnnotatedMethods methods, Method method, Class<?> targetClass) {
        if (method.isSynthetic()) {
            return null; // a bridge: it calls the method proper
        }
        AnnotatedMethod found = methods.find(method, targetClass);
        if (found != null && !found.method().equals(method)) {
            found = isWoven(found.method()) ? null : methods.find(method, method.getDeclaringClass());
        }
        return found != null && found.isAdvisable() ? found : null;
    }

    /**
     * Whether advice is woven around a method: AspectJ then moves the body into a static method of the same class, as in
     * {@code send_aroundBody0(Mailer, String, JoinPoint)}. Whose advice it is cannot be told.
     */
    static boolean isWoven(Method method) {
        List<Class<?>> parameters = Stream.concat(
                        Modifier.isStatic(method.getModifiers()) ? Stream.of() : Stream.of(method.getDeclaringClass()),
                        Arrays.stream(method.getParameterTypes()))
                .toList();
        return Arrays.stream(AnnotatedMethods.methodsOf(method.getDeclaringClass()))
                .anyMatch(each -> isBodyOf(method, each) && takes(parameters, each));
    }

    private static boolean isBodyOf(Method method, Method candidate) {
        return Modifier.isStatic(candidate.getModifiers())
                && candidate.getReturnType() == method.getReturnType()
                && candidate.getName().startsWith(method.getName() + "_aroundBody");
    }

    private static boolean takes(List<Class<?>> parameters, Method candidate) {
        List<Class<?>> taken = List.of(candidate.getParameterTypes());
        return taken.size() >= parameters.size()
                && taken.subList(0, parameters.size()).equals(parameters);
    }
}
