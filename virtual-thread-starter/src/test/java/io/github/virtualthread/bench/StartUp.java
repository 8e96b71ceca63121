package io.github.virtualthread.bench;

import io.github.virtualthread.VirtualThread;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.annotation.Annotation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
 * processor time counts, of all threads: it wobbles less than what the clock says. {@code plain} is what {@code ours} is compared
 * with where nothing is annotated, {@code async} where something is.
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

    private static final String STARTER = "virtual-thread-starter-\\d.*\\.jar";

    /** With the first the annotations mean nothing; the last alone has the starter on its class path. */
    @Param({"plain", "async", "ours"})
    public String contender;

    @Param({"0", "100"})
    public int annotated;

    private Path classes;
    private String classPath;

    @Setup
    public void prepare() throws IOException {
        classes = Files.createTempDirectory("started");
        for (Class<?> each : StartedApplication.CLASSES) {
            String file = each.getName().replace('.', '/') + ".class";
            Path copy = classes.resolve(file);
            Files.createDirectories(copy.getParent());
            try (InputStream content = each.getClassLoader().getResourceAsStream(file)) {
                Files.copy(content, copy);
            }
        }
        for (int i = 0; i < StartedApplication.BEANS; i++) {
            writeBean(i);
        }
        classPath = Stream.concat(
                        Stream.of(classes.toString()),
                        Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                                .filter(this::isNeeded))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private boolean isNeeded(String entry) {
        String file = Bench.file(entry);
        return file.matches(NEEDED) || (contender.equals("ours") && file.matches(STARTER));
    }

    private void writeBean(int number) throws IOException {
        Class<? extends Annotation> annotation = contender.equals("ours") ? VirtualThread.class : Async.class;
        var call = new ByteBuddy()
                .subclass(Object.class)
                .name(StartedApplication.bean(number))
                .defineMethod("call", CompletableFuture.class, Visibility.PUBLIC)
                .intercept(FixedValue.nullValue());
        var type = number < annotated
                ? call.annotateMethod(
                        AnnotationDescription.Builder.ofType(annotation).build())
                : call;
        type.make().saveIn(classes.toFile());
    }

    /** The first start of a JVM, as users have it. */
    @Benchmark
    @Measurement(iterations = 3)
    @Rows({"annotated=0 contender=plain,ours", "annotated=100 contender=async,ours"})
    public void first(Measured measured) throws Exception {
        run(0, 1, measured);
    }

    /** One of many in a JVM, as tests and reloads have it: what is left when classes are loaded and compiled. */
    @Benchmark
    @Measurement(iterations = 1)
    @Rows({"annotated=0 contender=plain,ours", "annotated=100 contender=async,ours"})
    public void later(Measured measured) throws Exception {
        run(30, 20, measured);
    }

    private void run(int before, int counting, Measured measured) throws Exception {
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xms1g",
                        "-Xmx1g",
                        "-cp",
                        classPath,
                        StartedApplication.class.getName(),
                        contender,
                        Integer.toString(before),
                        Integer.toString(counting)))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes()).strip();
        if (process.waitFor() != 0) {
            throw new IllegalStateException(said);
        }
        String[] processorTimeAndBytes = said.split(" ");
        measured.time = Long.parseLong(processorTimeAndBytes[0]) / 1_000_000.0;
        measured.bytes = Long.parseLong(processorTimeAndBytes[1]);
    }

    @TearDown
    public void end() throws IOException {
        FileSystemUtils.deleteRecursively(classes);
    }
}
