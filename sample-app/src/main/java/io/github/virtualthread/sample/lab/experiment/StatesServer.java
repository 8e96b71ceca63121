package io.github.virtualthread.sample.lab.experiment;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Virtual threads in their states, in a JVM that opens {@code java.lang} to look into them. */
final class StatesServer {

    private static final long LONG = 600_000; // milliseconds

    private final Object held = new Object();
    private volatile boolean ended;

    private StatesServer() {}

    public static void main(String[] args) {
        ChildAnswers.give(question -> new StatesServer().states());
    }

    /** Of each thread what it does and three states, apart from each other by {@code |} and {@code ;}. */
    private String states() throws Exception {
        Map<String, Thread> threads = new LinkedHashMap<>();
        synchronized (held) {
            threads.put(
                    "is not started", Thread.ofVirtual().name("is not started").unstarted(() -> {}));
            // shown
            start(threads, "computes", this::compute);
            start(threads, "sleeps", () -> Thread.sleep(LONG));
            start(threads, "waits for a permit by park()", LockSupport::park);
            start(threads, "the same with max-wait", () -> LockSupport.parkNanos(LONG * 1_000_000));
            start(threads, "waits for a monitor", this::enter);
            start(threads, "waits in Object.wait()", this::await);
            start(threads, "sleeps in a class initializer", () -> Sleeping.touch());
            start(threads, "has ended", () -> {});
            // shown
            Thread.sleep(500); // all are where they stay
            String dump = dump();
            List<String> states = new ArrayList<>();
            for (Map.Entry<String, Thread> each : threads.entrySet()) {
                Thread thread = each.getValue();
                states.add(String.join(
                        "|", each.getKey(), thread.getState().name(), inside(thread), inDump(each.getKey(), dump)));
            }
            ended = true;
            return String.join(";", states);
        }
    }

    private static void start(Map<String, Thread> threads, String name, Body body) {
        threads.put(name, Thread.ofVirtual().name(name).start(() -> {
            try {
                body.run();
            } catch (InterruptedException impossible) {
                throw new IllegalStateException(impossible);
            }
        }));
    }

    private void compute() {
        while (!ended) {
            Thread.onSpinWait();
        }
    }

    private void enter() {
        synchronized (held) {
            ended = true;
        }
    }

    private void await() throws InterruptedException {
        Object own = new Object();
        synchronized (own) {
            while (!ended) {
                own.wait(); // nobody notifies it
            }
        }
    }

    /** The name of the number that the thread itself keeps. */
    private static String inside(Thread thread) throws ReflectiveOperationException {
        Class<?> type = thread.getClass();
        Field field = type.getDeclaredField("state");
        field.setAccessible(true);
        int state = field.getInt(thread);
        for (Field each : type.getDeclaredFields()) {
            if (Modifier.isStatic(each.getModifiers()) && each.getType() == int.class) {
                each.setAccessible(true);
                if (each.getInt(null) == state) {
                    return each.getName();
                }
            }
        }
        return String.valueOf(state);
    }

    /** As the endpoint virtualthreaddump makes it. */
    private static String dump() throws IOException {
        Path folder = Files.createTempDirectory("states");
        Path file = folder.resolve("dump.json");
        try {
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpThreads(file.toString(), ThreadDumpFormat.JSON);
            return Files.readString(file);
        } finally {
            Files.deleteIfExists(file);
            Files.delete(folder);
        }
    }

    private static String inDump(String name, String dump) {
        Matcher found = Pattern.compile("\"name\": \"" + Pattern.quote(name) + "\",\\s*\"state\": \"(\\w+)\"")
                .matcher(dump);
        return found.find() ? found.group(1) : dump.contains(name) ? "no state" : "not there";
    }

    /** What a thread does. */
    @FunctionalInterface
    private interface Body {
        void run() throws InterruptedException;
    }

    /** Its initializer is native on the stack: whoever waits in it keeps the carrier. */
    private static final class Sleeping {

        static {
            try {
                Thread.sleep(LONG);
            } catch (InterruptedException impossible) {
                throw new IllegalStateException(impossible);
            }
        }

        static void touch() {}
    }
}
