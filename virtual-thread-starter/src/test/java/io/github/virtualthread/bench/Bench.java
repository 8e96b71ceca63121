package io.github.virtualthread.bench;

import io.github.virtualthread.bench.page.BenchReport;
import io.github.virtualthread.bench.page.BenchReport.Figures;
import io.github.virtualthread.bench.page.BenchReport.Machine;
import java.io.File;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.springframework.boot.SpringBootVersion;
import org.springframework.core.SpringVersion;

/**
 * Runs the benchmarks, in every round one JVM for each contender, by turns: whatever slows the machine down for a while affects all
 * of them, and every second round has the opposite order. Arguments: which benchmarks, a regular expression; how many rounds; the
 * file for the results; the jar. The file has all rounds that are complete, even if a later one fails.
 */
public final class Bench {

    static final Path SAMPLE = Path.of(System.getProperty("bench.sample", "sample-app.jar"));

    private static final double HIGHEST_LOAD = 1;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final Map<String, Figures> figures = new LinkedHashMap<>();
    private final List<String> classPath =
            List.of(System.getProperty("java.class.path").split(File.pathSeparator));

    private Bench() {}

    public static void main(String[] arguments) throws Exception {
        List<List<Turn>> rows = Turn.rows(Pattern.compile(arguments[0]));
        int rounds = Integer.parseInt(arguments[1]);
        boolean anyway = Boolean.getBoolean("bench.anyway");
        if (rows.isEmpty()) {
            refuse("bench.include must match the name of a benchmark such as EmptyBody.joined, was '%s'."
                    .formatted(arguments[0]));
        }
        if (rows.stream().anyMatch(row -> row.getFirst().benchmark().matches("Request.*|StartUp.later"))
                && !Files.exists(SAMPLE)) {
            refuse(
                    "Request.page and StartUp.later need %s, which does not exist. Build it first: mvn package -Pbench -DskipTests"
                            .formatted(SAMPLE));
        }
        double load = load(anyway);
        if (load > HIGHEST_LOAD && !anyway) {
            refuse("""
                    The load average before a run must be at most %.1f, was %.1f: other programs use the cores, and the figures would \
                    depend on them. Stop them and run this again, or pass -Dbench.anyway=true: then the report says that the \
                    machine was busy.\
                    """.formatted(HIGHEST_LOAD, load));
        }
        Machine machine = machine(load, load > HIGHEST_LOAD);
        Bench bench = new Bench();
        for (int round = 1; round <= rounds; round++) {
            for (List<Turn> row : rows) {
                for (Turn turn : round % 2 == 1 ? row : row.reversed()) {
                    bench.measure(turn, round);
                }
            }
            new BenchReport(machine, round, List.copyOf(bench.figures.values()), JarSize.of(Path.of(arguments[3])))
                    .write(Path.of(arguments[2]));
        }
    }

    private static void refuse(String why) {
        System.err.println(why);
        System.exit(1);
    }

    /** The load average of the last minute. The build before this run raises it too, so this waits for it to fall. */
    private static double load(boolean anyway) throws InterruptedException {
        var system = ManagementFactory.getOperatingSystemMXBean();
        long end = System.nanoTime() + PATIENCE.toNanos();
        double load = system.getSystemLoadAverage();
        while (load > HIGHEST_LOAD && !anyway && System.nanoTime() < end) {
            System.out.printf("Waiting for a load average of at most %.1f, it is %.1f%n", HIGHEST_LOAD, load);
            Thread.sleep(10_000);
            load = system.getSystemLoadAverage();
        }
        return load;
    }

    private static Machine machine(double load, boolean anyway) {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return new Machine(
                Runtime.getRuntime().availableProcessors(),
                system.getTotalMemorySize() >> 20,
                Runtime.version().toString(),
                SpringBootVersion.getVersion(),
                SpringVersion.getVersion(),
                System.getProperty("os.name"),
                LocalDate.now().toString(),
                load,
                anyway);
    }

    private void measure(Turn turn, int round) throws Exception {
        long start = System.nanoTime();
        // JMH starts its JVM with this class path
        System.setProperty(
                "java.class.path", turn.classPath(classPath.stream()).collect(Collectors.joining(File.pathSeparator)));
        var options = turn.options().forks(1).addProfiler(GCProfiler.class).shouldFailOnError(true);
        for (RunResult result : new Runner(options.build()).run()) {
            add(turn, result);
        }
        System.out.printf(
                "Round %d, %s: %d s%n",
                round, turn, Duration.ofNanos(System.nanoTime() - start).toSeconds());
    }

    private void add(Turn turn, RunResult result) {
        Map<String, Result> others = result.getSecondaryResults();
        Figures known = figures(turn.shared().getLast(), result);
        known.scores()
                .addAll(positive(others.get("time"), result.getPrimaryResult())
                        .limit(1)
                        .toList());
        known.bytes()
                .addAll(positive(others.getOrDefault("bytes", others.get("gc.alloc.rate.norm")))
                        .toList());
        known.longestWaits().addAll(positive(others.get("longestWaitMillis")).toList());
        if (turn.shared().size() > 1) {
            Figures other = figures(turn.shared().getFirst(), result);
            other.scores().addAll(positive(others.get("otherTime")).toList());
            other.bytes().addAll(positive(others.get("otherBytes")).toList());
        }
    }

    private Figures figures(Turn turn, RunResult result) {
        return figures.computeIfAbsent(
                turn.toString(),
                first -> new Figures(
                        turn.benchmark(),
                        new TreeMap<>(turn.parameters()),
                        new ArrayList<>(),
                        result.getPrimaryResult().getScoreUnit(),
                        new ArrayList<>(),
                        new ArrayList<>()));
    }

    private static Stream<Double> positive(Result<?>... results) {
        return Stream.of(results)
                .filter(result -> result != null)
                .map(result -> result.getStatistics().getPercentile(50))
                .filter(value -> value > 0);
    }

    /** The name of a file on the class path. */
    static String file(String entry) {
        return Path.of(entry).getFileName().toString();
    }
}
