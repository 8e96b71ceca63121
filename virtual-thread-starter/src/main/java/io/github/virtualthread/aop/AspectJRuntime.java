package io.github.virtualthread.aop;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Finds out about AspectJ, which is optional, without using its types. */
final class AspectJRuntime {

    private static final String AGENT = "-javaagent:";
    private static final String RUNTIME = "org.aspectj.lang.ProceedingJoinPoint";

    private AspectJRuntime() {}

    /** Whether woven code could run at all. */
    static boolean isOnClassPath(@Nullable ClassLoader classLoader) {
        return ClassUtils.isPresent(RUNTIME, classLoader);
    }

    /**
     * Whether this JVM was started with the agent. The agent's class is not asked: if it is only on the classpath, asking
     * would start it.
     */
    static boolean isAgent() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream().anyMatch(AspectJRuntime::isAgent);
    }

    /** As in {@code -javaagent:/path/aspectjweaver-1.9.25.1.jar=options}; the name of a directory does not count. */
    static boolean isAgent(String argument) {
        if (!argument.startsWith(AGENT)) {
            return false;
        }
        String jar = argument.substring(AGENT.length()).split("=", 2)[0];
        return jar.substring(Math.max(jar.lastIndexOf('/'), jar.lastIndexOf('\\')) + 1)
                .contains("aspectj");
    }

    /**
     * Whether advice is woven around a method: AspectJ then moves the body into a static method of the same class, as in
     * {@code send_aroundBody0(Mailer, String, JoinPoint)}. It does not show whose advice it is.
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
