package io.github.virtualthread.aop;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** Finds out about AspectJ, which is optional, without using its types. */
final class AspectJRuntime {

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
        return argument.matches("-javaagent:([^=]*[/\\\\])?[^=/\\\\]*aspectj[^=/\\\\]*(=.*)?");
    }

    /**
     * Whether advice is woven around a method: AspectJ then moves the body into a static method of the same class, as in
     * {@code send_aroundBody0(Mailer, String, JoinPoint)}. It does not show whose advice it is.
     */
    static boolean isWoven(Method method) {
        List<Class<?>> parameters = new ArrayList<>(List.of(method.getParameterTypes()));
        if (!Modifier.isStatic(method.getModifiers())) {
            parameters.add(0, method.getDeclaringClass());
        }
        return Arrays.stream(AnnotatedMethods.methodsOf(method.getDeclaringClass()))
                .anyMatch(each -> Modifier.isStatic(each.getModifiers())
                        && each.getReturnType() == method.getReturnType()
                        && each.getName().startsWith(method.getName() + "_aroundBody")
                        && Collections.indexOfSubList(List.of(each.getParameterTypes()), parameters) == 0);
    }
}
