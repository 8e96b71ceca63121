package io.github.virtualthread.sample.lab.experiment;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.OptionalLong;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;

/** How much of this process is in memory without being heap, where the system tells it: on Linux. */
final class NativeMemory {

    private static final Path MAPPINGS = Path.of("/proc/self/smaps");
    private static final Pattern HEAP = Pattern.compile("\\[0x(\\p{XDigit}+),.*0x(\\p{XDigit}+)\\)");
    private static final Pattern MAPPING = Pattern.compile("(\\p{XDigit}+)-\\p{XDigit}+ .*");
    private static final Pattern RESIDENT = Pattern.compile("Rss: +(\\d+) kB");

    private final long heapFrom;
    private final long heapTo;
    private boolean inHeap;
    private long kilobytes;

    private NativeMemory(long heapFrom, long heapTo) {
        this.heapFrom = heapFrom;
        this.heapTo = heapTo;
    }

    /** Bytes; empty where it is not known. */
    static OptionalLong resident() throws IOException, JMException {
        if (!Files.isReadable(MAPPINGS)) {
            return OptionalLong.empty();
        }
        String heap = heapInfo();
        OptionalLong from =
                HEAP.matcher(heap).results().mapToLong(part -> address(part, 1)).min();
        OptionalLong to =
                HEAP.matcher(heap).results().mapToLong(part -> address(part, 2)).max();
        if (from.isEmpty() || to.isEmpty()) {
            return OptionalLong.empty();
        }
        NativeMemory memory = new NativeMemory(from.getAsLong(), to.getAsLong());
        try (Stream<String> lines = Files.lines(MAPPINGS)) {
            lines.forEach(memory::read);
        }
        return OptionalLong.of(memory.kilobytes << 10);
    }

    /** Where the heap lies; the command that jcmd calls GC.heap_info. */
    private static String heapInfo() throws JMException {
        return (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "gcHeapInfo",
                        new Object[0],
                        new String[0]);
    }

    private void read(String line) {
        var mapping = MAPPING.matcher(line);
        var resident = RESIDENT.matcher(line);
        if (mapping.matches()) {
            long from = address(mapping.toMatchResult(), 1);
            inHeap = Long.compareUnsigned(from, heapFrom) >= 0 && Long.compareUnsigned(from, heapTo) < 0;
        } else if (!inHeap && resident.matches()) {
            kilobytes += Long.parseLong(resident.group(1));
        }
    }

    private static long address(MatchResult match, int group) {
        return Long.parseUnsignedLong(match.group(group), 16);
    }
}
