package io.github.virtualthread.execution;

import io.github.virtualthread.limit.TaskTimer;
import java.lang.Thread.UncaughtExceptionHandler;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Makes the virtual threads: prefix, name of the task, number. Tasks of one name share their numbers, so no two threads are
 * named alike.
 *
 * <p>A thread is made by whoever frees a permit, not by the caller of its task: it inherits nothing from its maker. Its name
 * and all else it gives itself, as its maker is in a hurry: a caller with many more calls to make, or a task that has ended.
 */
final class TaskThreads {

    private final ThreadFactory factory =
            Thread.ofVirtual().inheritInheritableThreadLocals(false).factory();
    private final Map<String, Named> named = new ConcurrentHashMap<>();
    private final String prefix;
    private final ClassLoader contextClassLoader;

    TaskThreads(String prefix, ClassLoader contextClassLoader) {
        this.prefix = prefix;
        this.contextClassLoader = contextClassLoader;
    }

    /**
     * Initializes classes, on a thread of its own, and has the JDK begin what it begins with the first virtual thread that parks for
     * a time. Where it cannot have a thread for that later, the class of all virtual threads stays broken.
     */
    void warmUp(List<Class<?>> classes) {
        factory.newThread(() -> {
                    LockSupport.parkNanos(1);
                    classes.forEach(TaskThreads::initialize);
                })
                .start();
    }

    private static void initialize(Class<?> type) {
        try {
            MethodHandles.lookup().ensureInitialized(type);
        } catch (IllegalAccessException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** The threads of one task. */
    Named named(String task) {
        return named.computeIfAbsent(task, name -> new Named(factory, prefix + name + "-"));
    }

    /** Virtual threads without a name, of no task. */
    ThreadFactory virtualThreads() {
        return factory;
    }

    /** Makes the current thread the one of a task, which handles what else nobody catches: see {@link Task#current}. */
    void enter(Named named, UncaughtExceptionHandler task) {
        Thread.currentThread().setUncaughtExceptionHandler(task);
        adopt(named);
    }

    /** Runs what hangs on a task on a virtual thread that inherits nothing and is not the one of the task. */
    void start(Named named, Runnable action) {
        factory.newThread(() -> {
                    adopt(named);
                    action.run();
                })
                .start();
    }

    /** The current thread sees the classes of the application from now on. */
    void adopt() {
        Thread.currentThread().setContextClassLoader(contextClassLoader);
    }

    /** Throws nothing: a call is worth more than the name of its thread. */
    @SuppressWarnings("EmptyCatch")
    void adopt(Named named) {
        adopt();
        try {
            Thread.currentThread().setName(named.nextName());
        } catch (Throwable noName) { // where memory is short, the first one fails to link in many ways
            // the body may need less, or tell its caller of the same
        }
    }

    /** Whether the current thread is inside a method, however short memory is. */
    static boolean isInside(Class<?> type, String method) {
        while (true) {
            try {
                return StackWalker.getInstance()
                        .walk(frames ->
                                frames.anyMatch(frame -> frame.getMethodName().equals(method)
                                        && frame.getClassName().equals(type.getName())));
            } catch (OutOfMemoryError noRoom) {
                TaskTimer.pause();
            } catch (Throwable broken) {
                return false;
            }
        }
    }

    /** Threads of one name. */
    static final class Named {

        private final ThreadFactory factory;
        private final String begin;
        private final AtomicLong number = new AtomicLong();

        /**
         * Threads of which there is none yet.
         *
         * @param begin what all names begin with
         */
        Named(ThreadFactory factory, String begin) {
            this.factory = factory;
            this.begin = begin;
        }

        /** A thread that has not been started, and has no name. */
        <T extends Runnable & UncaughtExceptionHandler> Thread newThread(T task) {
            Thread thread = factory.newThread(task);
            thread.setUncaughtExceptionHandler(task);
            return thread;
        }

        String nextName() {
            return begin + number.incrementAndGet();
        }
    }
}
