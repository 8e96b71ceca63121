package io.github.virtualthread.execution;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A JVM of its own for a program that exhausts memory, threads or carriers. It has the class path of this JVM, but not its
 * agents. The program reports figures, one a line.
 */
public final class ChildJvm {

    /** Programs wait for a minute at most for each thing that has to happen; this is for one that hangs. */
    private static final long MINUTES = 10;

    private static final int SHOWN = 20_000;
    private static final Pattern FIGURE = Pattern.compile("^(\\w[\\w ]*) = (-?\\d+)$", Pattern.MULTILINE);

    /** What a program has left: its exit code, its figures, and all that it wrote. */
    public record Report(int exit, Map<String, Long> figures, String output) {}

    private final Class<?> program;
    private final List<String> before = new ArrayList<>();
    private final List<String> options = new ArrayList<>();

    public ChildJvm(Class<?> program) {
        this.program = program;
        String patience = System.getProperty(ChildProgram.PATIENCE);
        if (patience != null) {
            options.add("-D" + ChildProgram.PATIENCE + "=" + patience);
        }
    }

    /** Options of the JVM. */
    ChildJvm with(String... given) {
        Collections.addAll(options, given);
        return this;
    }

    /** As many carriers, and never more. */
    public ChildJvm withCarriers(int number) {
        return with(
                "-Djdk.virtualThreadScheduler.parallelism=" + number,
                "-Djdk.virtualThreadScheduler.maxPoolSize=" + number);
    }

    /** A command that runs the JVM, which is its last argument. */
    ChildJvm startedBy(List<String> command) {
        before.addAll(command);
        return this;
    }

    /** Waits for the end of the program. */
    public Report run(Object... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(before);
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        for (Object argument : arguments) {
            command.add(argument.toString());
        }
        Path file = Files.createTempFile("child", ".txt");
        try {
            return run(new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(file.toFile()), file);
        } finally {
            Files.delete(file);
        }
    }

    private static Report run(ProcessBuilder builder, Path file) throws IOException, InterruptedException {
        Process process = builder.start();
        boolean ended = false;
        try {
            ended = process.waitFor(MINUTES, TimeUnit.MINUTES);
            if (!ended) {
                dumpThreads(process);
            }
        } finally {
            process.destroyForcibly().waitFor();
        }
        String all = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        String output = all.length() <= SHOWN
                ? all
                : all.substring(0, SHOWN / 2) + "\n[...]\n" + all.substring(all.length() - SHOWN / 2);
        if (!ended) {
            throw new AssertionError("not ended after " + MINUTES + " minutes: " + output);
        }
        return new Report(process.exitValue(), figures(all), output);
    }

    /** The JVM writes its stacks to its output. */
    private static void dumpThreads(Process process) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-QUIT", Long.toString(process.pid()))
                .start()
                .waitFor();
        process.waitFor(2, TimeUnit.MINUTES);
    }

    private static Map<String, Long> figures(String output) {
        Map<String, Long> figures = new TreeMap<>();
        for (Matcher line = FIGURE.matcher(output); line.find(); ) {
            figures.put(line.group(1), Long.valueOf(line.group(2)));
        }
        return figures;
    }
}
