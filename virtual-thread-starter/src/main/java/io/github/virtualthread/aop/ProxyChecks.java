package io.github.virtualthread.aop;

import io.github.virtualthread.mistake.Mistake;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Checks that calls of annotated methods go through the proxy of the bean. */
record ProxyChecks(AnnotatedMethods methods) implements MethodChecks.Reach {

    /** Why a class cannot have a subclass as its proxy. */
    @Override
    public @Nullable Mistake checkClass(Class<?> type, boolean classProxy) {
        boolean isFinal = Modifier.isFinal(type.getModifiers());
        // if the type is abstract, the bean does not exist yet, and its class may allow subclasses
        boolean isSealed = type.isSealed() && !Modifier.isAbstract(type.getModifiers());
        if (!classProxy || !(isFinal || isSealed)) {
            return null;
        }
        String kind = "sealed";
        String remedy = "the class non-sealed";
        if (type.isRecord()) {
            kind = "a record";
            remedy = "it a non-final class";
        } else if (isFinal) {
            kind = "final";
            remedy = "the class non-final (in Kotlin open, or use the kotlin-spring plugin)";
        }
        return new Mistake(
                "%s has methods with %s, but cannot be proxied, because it is %s"
                        .formatted(type.getName(), methods.annotations(type), kind),
                "Make %s, or %s.".formatted(remedy, useInterface(type)));
    }

    /** How to do without a subclass as the proxy. */
    static String useInterface(Class<?> type) {
        String use = "use interface proxies (spring.aop.proxy-target-class: false)";
        return ClassUtils.getAllInterfacesForClass(type).length == 0 ? "let it implement an interface and " + use : use;
    }

    /** Why calls of a method bypass the proxy. */
    @Override
    public @Nullable Mistake checkMethod(AnnotatedMethod method, Class<?> type, boolean classProxy) {
        String problem = problem(method, type, classProxy);
        if (problem == null) {
            return null;
        }
        String remedy = "Declare it in an interface, or use class proxies (proxyTargetClass = true).";
        if (classProxy || method.is(Modifier.PRIVATE | Modifier.STATIC)) {
            remedy = "Make it a public or protected method that is neither final nor static.";
        }
        return new Mistake(
                "%s has %s, but is %s: calls bypass the proxy and would %s"
                        .formatted(
                                method.qualifiedName(),
                                method.annotation(),
                                problem,
                                method.isLimited() ? "take no permit" : "run on the caller's thread"),
                remedy);
    }

    /** An annotation on a type covers the methods that the proxy can intercept. */
    @Override
    public boolean requires(AnnotatedMethod method) {
        return method.carrier() == null;
    }

    private static @Nullable String problem(AnnotatedMethod method, Class<?> type, boolean classProxy) {
        if (method.is(Modifier.PRIVATE)) {
            return "private";
        }
        if (method.is(Modifier.STATIC)) {
            return "static";
        }
        if (!classProxy) {
            return method.isDeclaredByInterface() ? null : "not declared by an interface of its proxy";
        }
        if (method.is(Modifier.FINAL) && !Modifier.isFinal(type.getModifiers())) {
            return "final";
        }
        if (!method.is(Modifier.PUBLIC | Modifier.PROTECTED) && isForeign(method.method(), type)) {
            return "package-private in a package other than that of " + type.getName();
        }
        return null;
    }

    /** A subclass sees package-private methods only of its own package, which is one per class loader. */
    private static boolean isForeign(Method method, Class<?> type) {
        Class<?> declaring = method.getDeclaringClass();
        return !Objects.equals(declaring.getClassLoader(), type.getClassLoader())
                || !declaring.getPackageName().equals(type.getPackageName());
    }
}
