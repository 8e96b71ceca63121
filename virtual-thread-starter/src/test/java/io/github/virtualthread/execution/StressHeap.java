package io.github.virtualthread.execution;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** What calls could leave behind: objects and threads. */
final class StressHeap {

    private StressHeap() {}

    /** The least of a few: collectors do not get everything at once. */
    static long used() {
        long least = Long.MAX_VALUE;
        for (int i = 0; i < 3; i++) {
            System.gc();
            Runtime runtime = Runtime.getRuntime();
            least = Math.min(least, runtime.totalMemory() - runtime.freeMemory());
        }
        return least;
    }

    /** The last thing that a thread does is to tell of the end of its call: it may be there for a moment longer. */
    static void awaitNoThread(String prefix) throws IOException {
        long begin = System.nanoTime();
        while (threads().contains("\"" + prefix)) {
            if (System.nanoTime() - begin > TestEngine.ENOUGH.toNanos()) {
                throw new AssertionError("still there, among others: " + threads());
            }
        }
    }

    /** Of all kinds but the carriers of virtual threads, of which the JVM has as many as it needs at the moment. */
    static int numberOfThreads() throws IOException {
        return (int) threads()
                .lines()
                .filter(line -> line.contains("\"name\":") && !line.contains("ForkJoinPool-"))
                .count();
    }

    /** All threads, the virtual ones too. */
    private static String threads() throws IOException {
        Path directory = Files.createTempDirectory("threads");
        Path file = directory.resolve("threads.json");
        try {
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpThreads(file.toString(), ThreadDumpFormat.JSON);
            return Files.readString(file);
        } finally {
            Files.deleteIfExists(file);
            Files.delete(directory);
        }
    }
}
