package io.github.virtualthread.bench;

import io.github.virtualthread.bench.page.BenchReport;
import io.github.virtualthread.bench.page.BenchReport.Figures;
import io.github.virtualthread.bench.page.BenchReport.Machine;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.slf4j.MDC;
import org.springframework.boot.SpringBootVersion;
import org.springframework.core.SpringVersion;

/**
 * Runs the benchmarks, in every round one JVM for each of them: what slows the machine down for a while hits all alike.
 * Arguments: which benchmarks, a regular expression; how many rounds; the file for the results; the jar.
 */
public final class Bench {

    private Bench() {}

    public static void main(String[] arguments) throws Exception {
        Machine machine = machine();
        int rounds = Integer.parseInt(arguments[1]);
        Map<String, Figures> figures = new LinkedHashMap<>();
        for (int round = 0; round < rounds; round++) {
            OptionsBuilder options = new OptionsBuilder();
            options.include(arguments[0]).forks(1).addProfiler(GCProfiler.class).shouldFailOnError(true);
            for (RunResult result : new Runner(options.build()).run()) {
                add(figures, result);
            }
        }
        new BenchReport(machine, rounds, List.copyOf(figures.values()), JarSize.of(Path.of(arguments[3])))
                .write(Path.of(arguments[2]));
    }

    private static void add(Map<String, Figures> figures, RunResult result) {
        BenchmarkParams params = result.getParams();
        Map<String, String> parameters = new TreeMap<>();
        params.getParamsKeys().forEach(key -> parameters.put(key, params.getParam(key)));
        String[] name = params.getBenchmark().split("\\.");
        String benchmark = name[name.length - 2] + "." + name[name.length - 1];
        Figures known = figures.computeIfAbsent(
                benchmark + parameters,
                first -> new Figures(
                        benchmark,
                        parameters,
                        new ArrayList<>(),
                        result.getPrimaryResult().getScoreUnit(),
                        new ArrayList<>(),
                        new ArrayList<>()));
        // what a benchmark measures itself goes before what JMH does
        Map<String, Result> others = result.getSecondaryResults();
        known.scores().add(median(others.getOrDefault("processorTime", result.getPrimaryResult())));
        Stream.of("heldBytes", "gc.alloc.rate.norm")
                .filter(others::containsKey)
                .findFirst()
                .ifPresent(key -> known.bytes().add(median(others.get(key))));
    }

    private static double median(Result<?> result) {
        return result.getStatistics().getPercentile(50);
    }

    private static Machine machine() {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return new Machine(
                Runtime.getRuntime().availableProcessors(),
                system.getTotalMemorySize() >> 20,
                Runtime.version().toString(),
                SpringBootVersion.getVersion(),
                SpringVersion.getVersion(),
                System.getProperty("os.name"),
                LocalDate.now().toString(),
                system.getSystemLoadAverage(),
                false);
    }

    /** For those who carry it, as many keys as a web application has. */
    static void fillMdc(String contender) {
        if (contender.contains("-")) {
            MDC.put("user", "alice");
            MDC.put("request", "7");
            MDC.put("trace", "0123456789abcdef");
        }
    }
}
