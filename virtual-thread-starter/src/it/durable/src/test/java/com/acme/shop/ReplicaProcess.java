package com.acme.shop;

import static org.assertj.core.api.Assertions.assertThat;

import com.acme.shop.CountingMailServer.Halt;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A replica that can be started again, each time in another JVM with a log of its own. */
final class ReplicaProcess implements AutoCloseable {

    private static final int SIGKILL = 128 + 9;
    private static final int SIGTERM = 128 + 15;

    private final String name;
    private final Path folder;
    private final List<String> arguments;
    private int starts;
    private Process process;

    ReplicaProcess(String name, Path folder, Postgres database, int first, int end) {
        this.name = name;
        this.folder = folder;
        this.arguments = List.of(
                "--replica=" + name,
                "--first=" + first,
                "--end=" + end,
                "--spring.datasource.url=" + database.url(),
                // a stop drops what waits, and interrupts what runs
                "--virtual-thread.shutdown.await-termination-period=0s",
                // has a stack trace for each rejection
                "--logging.level.org.springframework.transaction.support=off");
    }

    void start(Halt halt, int haltAt) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx256m",
                "-cp",
                System.getProperty("java.class.path"),
                Replica.class.getName(),
                "--halt=" + halt,
                "--halt-at=" + haltAt));
        command.addAll(arguments);
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(
                        folder.resolve("%s-%d.log".formatted(name, ++starts)).toFile())
                .start();
    }

    void start() throws IOException {
        start(Halt.NOWHERE, 0);
    }

    void awaitHalt() throws InterruptedException {
        awaitExit(CountingMailServer.HALTED);
    }

    void kill() throws InterruptedException {
        process.destroyForcibly();
        awaitExit(SIGKILL);
    }

    void stop() throws InterruptedException {
        process.destroy();
        awaitExit(SIGTERM);
    }

    private void awaitExit(int code) throws InterruptedException {
        assertThat(process.waitFor(5, TimeUnit.MINUTES)).as(name).isTrue();
        assertThat(process.exitValue()).as("exit of %s, see %s", name, folder).isEqualTo(code);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** How many lines of all logs begin with it. */
    long lines(String begin) throws IOException {
        long found = 0;
        for (int start = 1; start <= starts; start++) {
            try (Stream<String> lines = Files.lines(folder.resolve("%s-%d.log".formatted(name, start)))) {
                found += lines.filter(line -> line.startsWith(begin)).count();
            }
        }
        return found;
    }

    @Override
    public void close() throws InterruptedException {
        if (process != null) {
            process.destroyForcibly().waitFor();
        }
    }
}
