package io.github.virtualthread.sample.lab.experiment;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.springframework.util.ClassUtils;

/**
 * Another JVM with the classes of this one, for what can only be chosen when a JVM starts. It is asked by lines, one after the
 * other, and answers through {@link ChildAnswers}. Closing it ends it at once; it also ends when this JVM does.
 */
final class ChildJvm implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int LAST_LINES = 30;

    /** Starts a class inside of a packaged jar, whose classes a class path does not reach. */
    private static final String LAUNCHER = "org.springframework.boot.loader.launch.PropertiesLauncher";

    private final String main;
    private final Process process;
    private final BufferedWriter questions;
    private final BlockingQueue<Optional<String>> answers = new LinkedBlockingQueue<>(); // empty for the end
    private final Deque<String> lastLines = new ConcurrentLinkedDeque<>();

    private ChildJvm(String main, Process process) {
        this.main = main;
        this.process = process;
        this.questions = process.outputWriter();
        // of the platform: reading from a process keeps a carrier
        Thread.ofPlatform().daemon().name("lab-child").start(this::read);
    }

    /** Starts one like this JVM. Returns before it is ready: the first question waits for that. */
    static ChildJvm start(Class<?> main, List<String> options) throws IOException {
        return start(Path.of(System.getProperty("java.home")), main, options);
    }

    /**
     * Starts one of another Java.
     *
     * @param home directory of that Java
     * @param main class whose main method uses {@link ChildAnswers}
     * @param options of the JVM, such as {@code -Xmx64m}
     */
    static ChildJvm start(Path home, Class<?> main, List<String> options) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(executable(home).toString());
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        if (ClassUtils.isPresent(LAUNCHER, null)) {
            command.addAll(List.of("-Dloader.main=" + main.getName(), LAUNCHER));
        } else {
            command.add(main.getName());
        }
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new ChildJvm(main.getSimpleName(), process);
    }

    private static Path executable(Path home) {
        Path unix = home.resolve("bin").resolve("java");
        Path windows = home.resolve("bin").resolve("java.exe");
        if (!Files.isExecutable(unix) && !Files.isExecutable(windows)) {
            throw new IllegalStateException(
                    "This experiment starts another JVM, and there is none at %s; run the sample on a whole Java"
                            .formatted(unix));
        }
        return Files.isExecutable(unix) ? unix : windows;
    }

    private void read() {
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(ChildAnswers.PREFIX)) {
                    answers.add(Optional.of(line.substring(ChildAnswers.PREFIX.length())));
                } else {
                    remember(line);
                }
            }
        } catch (IOException closed) {
            remember(closed.toString());
        } finally {
            answers.add(Optional.empty());
        }
    }

    private void remember(String line) {
        lastLines.add(line);
        if (lastLines.size() > LAST_LINES) {
            lastLines.remove();
        }
    }

    /**
     * What it answers. Blocks until then. Not for several threads at once.
     *
     * @throws IllegalStateException if it has ended, or takes too long; with its last lines
     */
    String ask(String question) throws InterruptedException {
        try {
            questions.write(question);
            questions.newLine();
            questions.flush();
        } catch (IOException ended) {
            remember(ended.toString()); // and why it has ended is told below
        }
        Optional<String> answer = answers.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        if (answer == null) {
            throw failure("has not answered '%s' within %d s".formatted(question, PATIENCE.toSeconds()));
        }
        if (answer.isEmpty()) {
            answers.add(answer); // for the next question too
            throw failure("ended instead of answering '%s'".formatted(question));
        }
        return answer.get();
    }

    private IllegalStateException failure(String what) {
        return new IllegalStateException("The JVM of %s %s. Its last lines:%n%s"
                .formatted(main, what, String.join(System.lineSeparator(), lastLines)));
    }

    /** Ends it, whatever it does, and waits until it has ended. */
    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit().join(); // not to be interrupted: it must not outlive the experiment
        try {
            questions.close();
        } catch (IOException unasked) {
            // a question that it had not read, since it had ended before
        }
    }
}
