package io.github.virtualthread.bench.page;

import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

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

    /** The entry of a contender, and of one more parameter if that is given as in {@code permits=64}. */
    Figures of(String benchmark, String contender, String parameter) {
        String[] wanted = parameter.split("=");
        return of(benchmark).stream()
                .filter(each -> contender.equals(each.parameters().get("contender"))
                        && (wanted.length < 2
                                || wanted[1].equals(each.parameters().get(wanted[0]))))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "%s has no figures of %s %s".formatted(benchmark, contender, parameter)));
    }

    static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }

    /** Median of the ratios of each round: rounds may differ, contenders of one round stand side by side. */
    static double ratio(List<Double> values, List<Double> others) {
        return median(IntStream.range(0, Math.min(values.size(), others.size()))
                .mapToObj(i -> values.get(i) / others.get(i))
                .toList());
    }
}
