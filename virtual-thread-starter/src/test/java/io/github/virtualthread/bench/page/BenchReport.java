package io.github.virtualthread.bench.page;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One run of the benchmarks.
 *
 * @param machine where it was
 * @param rounds how many JVMs measured each of them
 * @param figures one entry for each contender of each benchmark
 * @param jar what applications load
 */
public record BenchReport(Machine machine, int rounds, List<Figures> figures, Jar jar) {

    /**
     * What figures depend on most.
     *
     * @param load programs that wanted a core before the run began, by the average of the last minute; negative if unknown
     * @param anyway whether the load was too high and {@code -Dbench.anyway=true} asked for the run all the same
     */
    public record Machine(
            int cores,
            long memoryMegabytes,
            String java,
            String springBoot,
            String spring,
            String system,
            String date,
            double load,
            boolean anyway) {}

    /**
     * What one contender has reached.
     *
     * @param parameters settings of the benchmark, {@code contender} among them
     * @param scores time of an operation for each round
     * @param unit unit of the scores
     * @param bytes allocated, or held, by an operation, for each round; empty where nobody looked
     * @param longestWaits longest time that one call took, in milliseconds, for each round; empty where nobody looked
     */
    public record Figures(
            String benchmark,
            Map<String, String> parameters,
            List<Double> scores,
            String unit,
            List<Double> bytes,
            List<Double> longestWaits) {}

    /** The jar of the starter, and what takes its room. */
    public record Jar(long bytes, long classes, List<Part> parts) {

        /** The files of one package, as they are in the jar: compressed, their entries in its directory not counted. */
        public record Part(String name, long files, long bytes) {}
    }

    /** Reads what {@link #write} has written. */
    public static BenchReport read(Path file) throws IOException {
        return JsonMapper.builder().build().readValue(file.toFile(), BenchReport.class);
    }

    /** Writes it to a file, whose directory need not exist. */
    public void write(Path file) throws IOException {
        Files.createDirectories(file.toAbsolutePath().getParent());
        JsonMapper.builder()
                .enable(SerializationFeature.INDENT_OUTPUT)
                .enable(SerializationFeature.ORDER_MAP_ENTRIES_BY_KEYS)
                .build()
                .writeValue(file.toFile(), this);
    }

    List<Figures> of(String benchmark) {
        return figures.stream()
                .filter(each -> each.benchmark().equals(benchmark))
                .toList();
    }

    /**
     * The entry of a contender.
     *
     * @param measurement a benchmark with all its settings, as in {@code Waiting.start keys=3 map=shared}
     */
    Optional<Figures> of(String measurement, String contender) {
        String[] words = measurement.split(" ");
        Map<String, String> wanted = new HashMap<>(Map.of("contender", contender));
        for (String setting : List.of(words).subList(1, words.length)) {
            wanted.put(setting.split("=")[0], setting.split("=")[1]);
        }
        return of(words[0]).stream()
                .filter(each -> each.parameters().equals(wanted))
                .findFirst();
    }
}
