package io.github.virtualthread.execution;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Makes the virtual threads: prefix, name of the task, number. Threads of one name share one factory, so no two are named
 * alike.
 *
 * <p>A thread is made by whoever frees a permit, not by the caller of its task: it inherits nothing from its maker.
 */
final class TaskThreads {

    private final Map<String, ThreadFactory> factories = new ConcurrentHashMap<>();
    private final String prefix;
    private final ClassLoader contextClassLoader;

    TaskThreads(String prefix, ClassLoader contextClassLoader) {
        this.prefix = prefix;
        this.contextClassLoader = contextClassLoader;
    }

    /** Thread-safe factory of the threads of one task, unlike the builder it comes from. */
    ThreadFactory named(String task) {
        return factories.computeIfAbsent(task, this::create);
    }

    private ThreadFactory create(String task) {
        ThreadFactory factory =
                Thread.ofVirtual().inheritInheritableThreadLocals(false).factory();
        String begin = prefix + task + "-";
        AtomicLong number = new AtomicLong();
        return body -> {
            Thread thread = factory.newThread(body);
            // a factory that numbers threads by itself builds each name in several arrays
            thread.setName(begin + number.incrementAndGet());
            thread.setContextClassLoader(contextClassLoader);
            return thread;
        };
    }
}
