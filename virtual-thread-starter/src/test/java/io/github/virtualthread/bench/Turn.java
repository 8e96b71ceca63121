package io.github.virtualthread.bench;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * What one JVM measures.
 *
 * @param method the benchmark
 * @param parameters value of each of its parameters
 */
record Turn(Method method, Map<String, String> parameters) {

    private static final List<Class<?>> BENCHMARKS = List.of(
            EmptyBody.class,
            ParkingBody.class,
            Waiting.class,
            HandOver.class,
            Guarded.class,
            MillionSleepers.class,
            StartUp.class,
            Request.class);

    /** Jars of an application as people have it. They change what the starter does, so the other contenders go without. */
    private static final Pattern APPLICATION =
            Pattern.compile("(context-propagation|micrometer-core|spring-(boot-actuator|security|tx))-.*");

    /** The rows of all benchmarks with a name in which the pattern is found, such as {@code EmptyBody.joined}. */
    static List<List<Turn>> rows(Pattern include) {
        return BENCHMARKS.stream()
                .flatMap(type -> Arrays.stream(type.getDeclaredMethods()).sorted(Comparator.comparing(Method::getName)))
                .filter(method -> method.isAnnotationPresent(Rows.class)
                        && include.matcher(name(method)).find())
                .flatMap(method ->
                        Arrays.stream(method.getAnnotation(Rows.class).value()).map(row -> row(method, row)))
                .toList();
    }

    private static List<Turn> row(Method method, String row) {
        List<Map<String, String>> combinations = List.of(Map.of());
        for (String parameter : row.split(" ")) {
            String[] keyAndValues = parameter.split("=");
            combinations = combinations.stream()
                    .flatMap(known ->
                            Stream.of(keyAndValues[1].split(",")).map(value -> with(known, keyAndValues[0], value)))
                    .toList();
        }
        return combinations.stream().map(each -> new Turn(method, each)).toList();
    }

    private static Map<String, String> with(Map<String, String> known, String key, String value) {
        Map<String, String> more = new LinkedHashMap<>(known);
        more.put(key, value);
        return more;
    }

    String benchmark() {
        return name(method);
    }

    private static String name(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName();
    }

    ChainedOptionsBuilder options() {
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^" + Pattern.quote(method.getDeclaringClass().getName() + "." + method.getName()) + "$");
        parameters.forEach(options::param);
        return options;
    }

    /** The contenders that share the JVM, each as if it had its own. */
    List<Turn> shared() {
        String contender = parameters.get("contender");
        return contender == null
                ? List.of(this)
                : Stream.of(contender.split("\\+"))
                        .map(each -> new Turn(method, with(parameters, "contender", each)))
                        .toList();
    }

    /** The entries of a class path that its contender has. */
    Stream<String> classPath(Stream<String> all) {
        boolean application = parameters.getOrDefault("contender", "").startsWith("ours-app");
        return application
                ? all
                : all.filter(entry -> !APPLICATION.matcher(Bench.file(entry)).matches());
    }

    @Override
    public String toString() {
        return benchmark() + " " + parameters;
    }
}
