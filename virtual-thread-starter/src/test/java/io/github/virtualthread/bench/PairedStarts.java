package io.github.virtualthread.bench;

import com.sun.management.ThreadMXBean;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Later starts of several applications in one JVM, by turns: whatever slows the JVM down for a while affects all of them. Each has a
 * class loader of its own above a shared Spring. Arguments: how many turns do not count; how many do; and for each application its
 * name, {@code =}, and what it has on its class path beside Spring. Says for each the median processor time of the starting thread in
 * nanoseconds, and the median of the bytes that all threads allocate.
 */
public final class PairedStarts {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Runnable application;
    private final List<Long> nanos = new ArrayList<>();
    private final List<Long> bytes = new ArrayList<>();

    private PairedStarts(String nameAndClassPath) throws ReflectiveOperationException, MalformedURLException {
        String[] parts = nameAndClassPath.split("=", 2);
        List<URL> entries = new ArrayList<>();
        for (String entry : parts[1].split(File.pathSeparator)) {
            entries.add(Path.of(entry).toUri().toURL());
        }
        ClassLoader loader = new URLClassLoader(entries.toArray(URL[]::new), PairedStarts.class.getClassLoader());
        application = (Runnable) Class.forName(getClass().getPackageName() + ".StartedApplication", true, loader)
                .getConstructor(String.class)
                .newInstance(parts[0]);
    }

    public static void main(String[] arguments) throws Exception {
        int before = Integer.parseInt(arguments[0]);
        int counting = Integer.parseInt(arguments[1]);
        List<PairedStarts> all = new ArrayList<>();
        for (String application : List.of(arguments).subList(2, arguments.length)) {
            all.add(new PairedStarts(application));
        }
        for (int turn = 0; turn < before + counting; turn++) {
            for (PairedStarts each : turn % 2 == 0 ? all : all.reversed()) {
                each.start(turn >= before);
            }
        }
        all.forEach(each -> System.out.println(median(each.nanos) + " " + median(each.bytes)));
    }

    private void start(boolean counts) {
        Thread.currentThread().setContextClassLoader(application.getClass().getClassLoader());
        long processor = THREADS.getCurrentThreadCpuTime();
        long allocated = THREADS.getTotalThreadAllocatedBytes();
        application.run();
        if (counts) {
            nanos.add(THREADS.getCurrentThreadCpuTime() - processor);
            bytes.add(THREADS.getTotalThreadAllocatedBytes() - allocated);
        }
    }

    private static long median(List<Long> values) {
        Collections.sort(values);
        return values.get(values.size() / 2);
    }
}
