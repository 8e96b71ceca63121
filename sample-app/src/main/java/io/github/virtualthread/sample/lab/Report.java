package io.github.virtualthread.sample.lab;

import io.github.virtualthread.sample.lab.Answer.Line;
import java.lang.management.ManagementFactory;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

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

        /** Names of the settings in which runs of one experiment differ. */
        public static List<String> differing(List<Entry> runs) {
            return runs.getFirst().settings().keySet().stream()
                    .filter(name -> runs.stream()
                                    .map(each -> each.settings().get(name))
                                    .distinct()
                                    .count()
                            > 1)
                    .sorted()
                    .toList();
        }

        private Entry toldFrom(List<Entry> all) {
            String differs = differing(all).stream()
                    .map(name -> "%s %,d".formatted(name, settings.get(name)))
                    .collect(Collectors.joining(", "));
            return differs.isEmpty()
                    ? this
                    : new Entry(
                            id, number, title + ": " + differs, question, notShown, settings, answer, lines, failure);
        }

        private Entry withoutCurves() {
            Answer figures = answer == null
                    ? null
                    : new Answer(answer.sentence(), answer.columns(), answer.rows(), List.of(), answer.notes())
                            .withFacts(answer.facts());
            return new Entry(id, number, title, question, notShown, settings, figures, List.of(), failure);
        }
    }

    /** An experiment that has run more than once is told from itself by its settings. */
    public static Report of(Machine machine, List<Entry> experiments) {
        return new Report(
                machine,
                experiments.stream()
                        .map(entry -> entry.toldFrom(experiments.stream()
                                .filter(each -> each.id().equals(entry.id()))
                                .toList()))
                        .toList());
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
