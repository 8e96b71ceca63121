package io.github.virtualthread.bench;

import io.github.virtualthread.VirtualThread;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.Annotation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.annotation.AnnotationDescription;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.implementation.FixedValue;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.springframework.scheduling.annotation.Async;
import org.springframework.util.FileSystemUtils;

/**
 * Start and stop of {@link StartedApplication}, in a JVM with no more on its class path than such an application has. The
 * processor time counts: it wobbles less than what the clock says. {@code plain} is what {@code ours} is compared with where nothing
 * is annotated, {@code async} where something is.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 0)
public class StartUp {

    /** What spring-boot-starter brings. */
    private static final String NEEDED = "(spring-(boot|boot-autoconfigure|core|jcl|aop|beans|context|expression)"
            + "|micrometer-(observation|commons)|logback-(classic|core)|slf4j-api|log4j-(to-slf4j|api)|jul-to-slf4j"
            + "|jakarta\\.annotation-api|snakeyaml|commons-logging|jspecify)-\\d[^-]*\\.jar";

    /** What the starters for web requests and Actuator bring beside that; the sample has them. */
    private static final String WEB =
            "BOOT-INF/lib/(spring-(web|webmvc|boot-(actuator|actuator-autoconfigure|health|http-converter|jackson"
                    + "|micrometer-(metrics|observation)|servlet|tomcat|web-server|webmvc))|tomcat-embed-.*|jackson-.*"
                    + "|micrometer-(core|jakarta9)|HdrHistogram|LatencyUtils)-\\d[^-]*\\.jar";

    private static final String STARTER = "virtual-thread-starter-\\d.*\\.jar";

    /** With the first the annotations mean nothing; {@code ours} alone has the starter on its class path. */
    @Param({"plain", "async", "ours", "plain+ours", "async+ours", "plain-web+ours-web"})
    public String contender;

    @Param({"0", "100"})
    public int annotated;

    private Path folder;

    @Setup
    public void prepare() throws IOException {
        folder = Files.createTempDirectory("started");
        copy(PairedStarts.class, folder);
        for (String application : contender.split("\\+")) {
            Path classes = Files.createDirectory(folder.resolve(application));
            for (Class<?> each : StartedApplication.CLASSES) {
                copy(each, classes);
            }
            for (int i = 0; i < StartedApplication.BEANS; i++) {
                writeBean(i, application.startsWith("ours") ? VirtualThread.class : Async.class, classes);
            }
        }
    }

    private static void copy(Class<?> type, Path target) throws IOException {
        String file = type.getName().replace('.', '/') + ".class";
        Path copy = target.resolve(file);
        Files.createDirectories(copy.getParent());
        try (InputStream content = type.getClassLoader().getResourceAsStream(file)) {
            Files.copy(content, copy);
        }
    }

    private void writeBean(int number, Class<? extends Annotation> annotation, Path target) throws IOException {
        var call = new ByteBuddy()
                .subclass(Object.class)
                .name(StartedApplication.bean(number))
                .defineMethod("call", CompletableFuture.class, Visibility.PUBLIC)
                .intercept(FixedValue.nullValue());
        var type = number < annotated
                ? call.annotateMethod(
                        AnnotationDescription.Builder.ofType(annotation).build())
                : call;
        type.make().saveIn(target.toFile());
    }

    /** The first start of a JVM, as users have it. */
    @Benchmark
    @Measurement(iterations = 3)
    @Rows({"annotated=0 contender=plain,ours", "annotated=100 contender=async,ours"})
    public void first(Measured measured) throws Exception {
        List<String> found = run(
                classPath(contender) + File.pathSeparator + jars(NEEDED), StartedApplication.class, List.of(contender));
        double[] figures = figures(found.getFirst());
        measured.time = figures[0] / 1_000_000;
        measured.bytes = figures[1];
    }

    /**
     * One of many in a JVM, as tests and reloads have it: what is left when classes are loaded and compiled. Both start in the same JVM,
     * by turns; the processor time is that of the thread that starts.
     */
    @Benchmark
    @Measurement(iterations = 1)
    @Rows({
        "annotated=0 contender=plain+ours",
        "annotated=0 contender=plain-web+ours-web",
        "annotated=100 contender=async+ours"
    })
    public void later(Measured measured) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("40", "60"));
        for (String application : contender.split("\\+")) {
            arguments.add(application + "=" + classPath(application));
        }
        String shared = folder + File.pathSeparator + jars(NEEDED) + (contender.contains("web") ? webJars() : "");
        List<String> found = run(shared, PairedStarts.class, arguments);
        double[] other = figures(found.getFirst());
        measured.otherTime = other[0] / 1_000_000;
        measured.otherBytes = other[1];
        double[] ours = figures(found.getLast());
        measured.time = ours[0] / 1_000_000;
        measured.bytes = ours[1];
    }

    /** What an application has on its class path beside Spring. */
    private String classPath(String application) {
        Path classes = folder.resolve(application);
        return application.startsWith("ours") ? classes + File.pathSeparator + jars(STARTER) : classes.toString();
    }

    private static String jars(String pattern) {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> Bench.file(entry).matches(pattern))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private String webJars() throws IOException {
        var entries = new StringBuilder();
        try (JarFile sample = new JarFile(Bench.SAMPLE.toFile())) {
            for (JarEntry each : sample.stream()
                    .filter(entry -> entry.getName().matches(WEB))
                    .toList()) {
                Path copy = folder.resolve(Bench.file(each.getName()));
                try (InputStream content = sample.getInputStream(each)) {
                    Files.copy(content, copy);
                }
                entries.append(File.pathSeparator).append(copy);
            }
        }
        return entries.toString();
    }

    private static double[] figures(String line) {
        return Stream.of(line.split(" ")).mapToDouble(Double::parseDouble).toArray();
    }

    private static List<String> run(String classPath, Class<?> main, List<String> arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xms1g",
                "-Xmx1g",
                "-cp",
                classPath,
                main.getName()));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes()).strip();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(said);
        }
        return said.lines().toList();
    }

    @TearDown
    public void end() throws IOException {
        FileSystemUtils.deleteRecursively(folder);
    }
}
