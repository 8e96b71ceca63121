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
            String failure) {

        private Entry withoutCurves() {
            Answer figures = answer == null
                    ? null
                    : new Answer(answer.sentence(), answer.columns(), answer.rows(), List.of(), answer.notes())
                            .withFacts(answer.facts());
            return new Entry(id, number, title, question, notShown, settings, figures, List.of(), failure);
        }
    }

    /** Figures and facts alone. */
    public Report withoutCurves() {
        return new Report(
                machine, experiments.stream().map(Entry::withoutCurves).toList());
    }

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
