package io.github.virtualthread.execution;

import io.github.virtualthread.Internal;
import io.github.virtualthread.timer.TaskTimer;
import java.lang.Thread.UncaughtExceptionHandler;
import java.lang.invoke.MethodHandles;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * Creates the virtual threads. A thread is named by prefix, name of the task and number; tasks of one name share their
 * numbers, so thread names are unique.
 *
 * <p>The thread that frees a permit creates the next one, and not the caller of the task, so threads inherit nothing. A new
 * thread sets its name and everything else itself, because its creator has other work: a caller may have many more calls to
 * make.
 */
@Internal
public final class TaskThreads {

    private final ThreadFactory factory =
            Thread.ofVirtual().inheritInheritableThreadLocals(false).factory();
    private final Map<String, Named> named = new ConcurrentHashMap<>();
    private final String prefix;
    private final ClassLoader contextClassLoader;

    /**
     * Creates the threads of one engine.
     *
     * @param prefix prefix of all thread names, may be empty
     * @param contextClassLoader context class loader of all threads
     */
    public TaskThreads(String prefix, ClassLoader contextClassLoader) {
        this.prefix = prefix;
        this.contextClassLoader = contextClassLoader;
    }

    /**
     * Initializes classes on a thread of its own, and makes the JDK start what it starts for the first timed park of a
     * virtual thread. If the JDK cannot get a thread for that later, the class of all virtual threads stays broken.
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

    /** The threads of one name. */
    Named named(String task) {
        return named.computeIfAbsent(task, name -> new Named(factory, prefix + name + "-"));
    }

    /** Virtual threads without a name and without a task. */
    ThreadFactory virtualThreads() {
        return factory;
    }

    /** Makes the current thread the one of a task, which handles its uncaught exceptions: see {@link Task#current}. */
    void enter(Named named, UncaughtExceptionHandler task) {
        Thread current = Thread.currentThread();
        if (!task.equals(current.getUncaughtExceptionHandler())) { // volatile: a write takes longer than to look
            current.setUncaughtExceptionHandler(task);
        }
        adopt(named);
    }

    /** Runs an action of a task on another virtual thread, which inherits nothing. */
    void start(Named named, Runnable action) {
        factory.newThread(() -> {
                    adopt(named);
                    action.run();
                })
                .start();
    }

    /** Gives the current thread the class loader of the application. */
    void adopt() {
        Thread.currentThread().setContextClassLoader(contextClassLoader);
    }

    /** Throws nothing, because a call is worth more than the name of its thread. */
    void adopt(Named named) {
        adopt();
        try {
            Thread.currentThread().setName(named.nextName());
        } catch (Throwable shortage) { // if memory is short, the first one fails to link in many ways
            // the body may need less memory, or fail for the same reason
        }
    }

    /** Whether the current thread is inside a method, even if memory is short. */
    static boolean isInside(Class<?> type, String method) {
        while (true) {
            try {
                return StackWalker.getInstance()
                        .walk(frames ->
                                frames.anyMatch(frame -> frame.getMethodName().equals(method)
                                        && frame.getClassName().equals(type.getName())));
            } catch (OutOfMemoryError shortage) {
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
         * Creates the threads of a name.
         *
         * @param begin prefix of all names
         */
        Named(ThreadFactory factory, String begin) {
            this.factory = factory;
            this.begin = begin;
        }

        /** Returns a thread that has no name yet and has not been started. */
        <T extends Runnable & UncaughtExceptionHandler> Thread newThread(T task) {
            Thread thread = factory.newThread(task);
            thread.setUncaughtExceptionHandler(task);
            return thread;
        }

        String nextName() {
            long next = number.incrementAndGet();
            int small = (int) next;
            // C2 writes an int into the string itself, but not a long
            return small == next ? begin + small : begin + next;
        }
    }
}
