package io.github.virtualthread.observation;

import io.github.virtualthread.Internal;
import io.github.virtualthread.execution.LiveCalls;
import io.github.virtualthread.execution.TaskListener;
import io.github.virtualthread.limit.LimitNames;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;

/**
 * Logs virtual threads that block without releasing their carrier, by the JVM's flight recorder. Each place is logged at most
 * once per minute. Every pin is reported to the listeners.
 *
 * @see <a href="https://openjdk.org/jeps/491">JEP 491</a>: from JDK 24 on, synchronized does not pin; native frames and class
 *     initializers still do
 */
@Internal
public final class PinWatch implements SmartLifecycle {

    private static final Logger logger = LoggerFactory.getLogger(PinWatch.class);

    private static final String EVENT = "jdk.VirtualThreadPinned";
    private static final Duration QUIET = Duration.ofMinutes(1);

    private final Duration threshold;
    private final Pattern taskThreads;
    private final LiveCalls calls;
    private final ObjectProvider<TaskListener> listeners;
    private final Map<String, Long> logged =
            new LinkedHashMap<>(); // place to time, oldest first; the stream's thread only
    private volatile @Nullable RecordingStream stream;

    /**
     * Creates a watch; it begins with {@link #start}.
     *
     * @param threshold pins shorter than this are ignored; zero or more
     * @param threadNamePrefix prefix of the names of all threads of tasks
     * @param calls finds the call that runs on a thread of its caller
     * @param listeners notified of every pin
     */
    public PinWatch(
            Duration threshold, String threadNamePrefix, LiveCalls calls, ObjectProvider<TaskListener> listeners) {
        this.threshold = threshold;
        this.taskThreads = Pattern.compile(Pattern.quote(threadNamePrefix) + "(.+)-\\d+");
        this.calls = calls;
        this.listeners = listeners;
    }

    /** Starts recording. A JVM that cannot record, for example because it has no directory to write to, is logged only. */
    @Override
    public void start() {
        Thread starter = Thread.currentThread();
        ClassLoader loader = starter.getContextClassLoader();
        // the recorder's own thread outlives us: it must not keep the class loader of an application that is closed
        starter.setContextClassLoader(ClassLoader.getSystemClassLoader());
        try {
            stream = record(loader);
        } catch (RuntimeException | InternalError noRecording) {
            logger.warn("Pinned threads are not reported, because the JVM's flight recorder cannot start", noRecording);
        } finally {
            starter.setContextClassLoader(loader);
        }
    }

    private RecordingStream record(ClassLoader loader) {
        RecordingStream made = new RecordingStream();
        made.enable(EVENT).withThreshold(threshold).withStackTrace();
        made.onEvent(EVENT, event -> {
            Thread.currentThread().setContextClassLoader(loader); // for the listeners
            pinned(event);
        });
        made.onError(failure -> logger.warn("A pinned thread could not be reported", failure));
        made.startAsync();
        return made;
    }

    private void pinned(RecordedEvent event) {
        String task = task(event.getThread());
        StackTraceElement[] stack = stack(event.getStackTrace());
        String place = place(stack);
        if (isToBeLogged(place)) {
            Throwable where = new Throwable("Stack of a pinned thread");
            where.setStackTrace(stack);
            logger.warn(
                    "{} kept its carrier busy for {} ms while it was blocked, at {}{}",
                    task.equals(LimitNames.NONE) ? "A virtual thread" : task,
                    event.getDuration().toMillis(),
                    place,
                    reason(event),
                    where);
        }
        listeners.orderedStream().forEach(listener -> report(listener, task, event.getDuration()));
    }

    private static void report(TaskListener listener, String task, Duration time) {
        try {
            listener.pinned(task, time);
        } catch (RuntimeException failure) {
            logger.error("{} has failed on a pinned thread of {}", listener, task, failure);
        }
    }

    /**
     * Finds the task by the name of its thread, because its call may be over. A call on its caller's thread is found only while
     * it runs.
     */
    private String task(@Nullable RecordedThread thread) {
        if (thread == null) {
            return LimitNames.NONE;
        }
        String name = thread.getJavaName();
        Matcher matcher = taskThreads.matcher(name == null ? "" : name);
        if (matcher.matches()) {
            return matcher.group(1);
        }
        return calls.onThread(thread.getJavaThreadId())
                .map(live -> live.call().spec().name())
                .orElse(LimitNames.NONE);
    }

    private static StackTraceElement[] stack(@Nullable RecordedStackTrace trace) {
        List<RecordedFrame> frames = trace == null ? List.of() : trace.getFrames();
        return frames.stream().map(PinWatch::element).toArray(StackTraceElement[]::new);
    }

    private static StackTraceElement element(RecordedFrame frame) {
        RecordedMethod method = frame.getMethod();
        return new StackTraceElement(method.getType().getName(), method.getName(), null, frame.getLineNumber());
    }

    /** Finds the place that called the JDK, because the frames that park a thread are the same everywhere. */
    private static String place(StackTraceElement[] stack) {
        for (StackTraceElement frame : stack) {
            String type = frame.getClassName();
            if (!type.startsWith("java.") && !type.startsWith("jdk.") && !type.startsWith("sun.")) {
                return "%s.%s, line %d".formatted(type, frame.getMethodName(), frame.getLineNumber());
            }
        }
        return stack.length == 0 ? "an unknown place" : stack[0].toString();
    }

    /** Later JDKs record a reason. */
    private static String reason(RecordedEvent event) {
        String reason = event.hasField("pinnedReason") ? event.getString("pinnedReason") : null;
        return reason == null ? "" : ": " + reason;
    }

    private boolean isToBeLogged(String place) {
        long now = System.nanoTime();
        logged.values().removeIf(time -> now - time >= QUIET.toNanos());
        return logged.putIfAbsent(place, now) == null;
    }

    @Override
    public void stop() {
        RecordingStream stopped = stream;
        stream = null;
        if (stopped != null) {
            stopped.close();
        }
    }

    @Override
    public boolean isRunning() {
        return stream != null;
    }
}
