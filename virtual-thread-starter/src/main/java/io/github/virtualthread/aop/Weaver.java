package io.github.virtualthread.aop;

import java.lang.management.ManagementFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.util.ClassUtils;

/** What can be told of AspectJ, which need not be there, without one of its types. */
final class Weaver {

    private static final String AGENT = "-javaagent:";
    private static final String RUNTIME = "org.aspectj.lang.ProceedingJoinPoint";

    private Weaver() {}

    /** Whether woven code could run at all. */
    static boolean isOnClassPath(@Nullable ClassLoader classLoader) {
        return ClassUtils.isPresent(RUNTIME, classLoader);
    }

    /** Whether this JVM was started with the agent. Its class is not asked: on the class path alone it would wake up for that. */
    static boolean isAgent() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream().anyMatch(Weaver::isAgent);
    }

    /** As in {@code -javaagent:/path/aspectjweaver-1.9.25.1.jar=options}; the name of a directory tells nothing. */
    static boolean isAgent(String argument) {
        if (!argument.startsWith(AGENT)) {
            return false;
        }
        String jar = argument.substring(AGENT.length()).split("=", 2)[0];
        return jar.substring(Math.max(jar.lastIndexOf('/'), jar.lastIndexOf('\\')) + 1)
                .contains("aspectj");
    }
}
