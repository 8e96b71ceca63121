package io.github.virtualthread.interceptor;

import java.lang.reflect.InvocationTargetException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.ClassUtils;

/** What can be told of AspectJ, which need not be there, without one of its types. */
final class Weaver {

    private static final Logger logger = LoggerFactory.getLogger(Weaver.class);

    private static final String RUNTIME = "org.aspectj.lang.ProceedingJoinPoint";
    private static final String AGENT = "org.aspectj.weaver.loadtime.Agent";

    private Weaver() {}

    /** Whether woven code could run at all. */
    static boolean isOnClassPath(@Nullable ClassLoader classLoader) {
        return ClassUtils.isPresent(RUNTIME, classLoader);
    }

    /** Whether this JVM was started with the agent, which weaves what is loaded. */
    static boolean isAgent() {
        try {
            Class<?> agent = ClassUtils.forName(AGENT, ClassLoader.getSystemClassLoader());
            return agent.getMethod("getInstrumentation").invoke(null) != null;
        } catch (InvocationTargetException notStarted) {
            return false; // on the class path, but not as an agent
        } catch (ReflectiveOperationException | LinkageError absent) {
            logger.debug("The agent of AspectJ is not there", absent);
            return false;
        }
    }
}
