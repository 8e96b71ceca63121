package io.github.virtualthread.sample.lab.terminal;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.sample.SampleApplication;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The command that each card of the page shows, in a JVM of its own. */
@Timeout(value = 5, unit = TimeUnit.MINUTES)
@Tag("slow")
class CommandLineTests {

    @TempDir
    private Path directory;

    @Test
    void theLabRunsInTheTerminalWhileThePageIsOpenAndPrintsNothingElse() throws Exception {
        Path printed = directory.resolve("printed.txt");
        int code;
        try (ServerSocket page = occupyThePortOfThePage()) {
            code = run(printed, "--lab=pool-or-virtual", "--lab.tasks=20", "--lab.millis=10", "--lab.rounds=1");
        }

        List<String> lines = Files.readAllLines(printed);
        assertThat(code).as("%s", lines).isZero();
        assertThat(lines)
                .contains("1. Pool or virtual threads", "   50 %  Round 1 of 1: fixed pool of 10")
                .noneMatch(line -> line.contains("INFO"))
                .anyMatch(line -> line.endsWith("report.html"));
        assertThat(lines)
                .filteredOn(line -> !line.contains(directory.toString()))
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(TextTable.WIDTH));
        assertThat(directory.resolve("target/lab/lab.log")).content().contains("INFO", "SampleApplication");
    }

    /** Where another program has it, that one occupies it. */
    private static ServerSocket occupyThePortOfThePage() throws IOException {
        ServerSocket socket = new ServerSocket();
        try {
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 8080));
        } catch (BindException occupied) {
            // as it should be
        }
        return socket;
    }

    private int run(Path printed, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                SampleApplication.class.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        try {
            return process.waitFor();
        } finally {
            process.destroyForcibly();
        }
    }
}
