package io.github.virtualthread.sample.lab.experiment;

import java.lang.management.ManagementFactory;
import java.util.Optional;

/**
 * What many calls that wait at the same time take of the heap, told by what a few of them took.
 *
 * @param each bytes that each of them took
 * @param measured how many they were
 */
record HeapNeed(long each, int measured) {

    /** Part of the heap that what waits may fill: a collector that has less room left does nothing else. */
    private static final double PART = 0.85;

    /** Bytes in use, after a collection. */
    static long inUse() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    /** Why that many have no room in a heap of so many bytes, and what to do; empty where they have. */
    Optional<String> refusal(String name, int number, long heap) {
        double need = (double) each * number / PART;
        if (need <= heap) {
            return Optional.empty();
        }
        return Optional.of(
                ("Left out: %s would need %.1f GB of heap, %,d bytes for each of %,d that wait, as %,d of them took; there are"
                                + " %.1f GB. Give it more by -Dspring-boot.run.jvmArguments=-Xmx%.0fg, where the machine has as much")
                        .formatted(
                                name,
                                need / (1 << 30),
                                each,
                                number,
                                measured,
                                heap / (double) (1 << 30),
                                Math.ceil(need / (1 << 30))));
    }
}
