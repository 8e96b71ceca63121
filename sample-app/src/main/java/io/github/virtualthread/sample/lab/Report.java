package io.github.virtualthread.sample.lab;

import io.github.virtualthread.sample.lab.Answer.Line;
import java.lang.management.ManagementFactory;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;

/** What several experiments have found, on one machine. */
public record Report(Machine machine, List<Entry> experiments) {

    /**
     * One experiment.
     *
     * @param lines what was drawn while it ran, of the last round
     * @param failure why there is no answer; null where there is one
     */
    public record Entry(
            String id,
            String number,
            String title,
            String question,
            String notShown,
            Map<String, Integer> settings,
            Answer answer,
            List<Line> lines,
            String failure) {}

    /** Where and when. */
    public record Machine(int cores, long memoryMegabytes, String java, String system, LocalDate date) {

        /** This one, today. */
        public static Machine here() {
            var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
            return new Machine(
                    Runtime.getRuntime().availableProcessors(),
                    system.getTotalMemorySize() >> 20,
                    Runtime.version().toString(),
                    system.getName(),
                    LocalDate.now(ZoneId.systemDefault()));
        }
    }
}
