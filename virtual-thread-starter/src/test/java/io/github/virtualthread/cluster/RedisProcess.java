package io.github.virtualthread.cluster;

import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import redis.embedded.core.ExecutableProvider;

/** A Redis that can be paused, killed, and started again, always on the same port: without its data, or with those of a snapshot. */
final class RedisProcess implements AutoCloseable {

    private final File program = ExecutableProvider.newJarResourceProvider().get();
    private final int port = freePort();
    private final Path folder = Files.createTempDirectory("redis");
    private Process process;

    RedisProcess() throws IOException {
        process = started();
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    int port() {
        return port;
    }

    private Process started() throws IOException {
        Process starting = new ProcessBuilder(
                        program.getPath(),
                        "--port",
                        "" + port,
                        "--bind",
                        "127.0.0.1",
                        "--dir",
                        folder.toString(),
                        "--save",
                        "",
                        "--appendonly",
                        "no")
                .redirectErrorStream(true)
                .start();
        BufferedReader log = starting.inputReader();
        StringBuilder all = new StringBuilder();
        for (String line = log.readLine(); line != null; line = log.readLine()) {
            if (line.contains("Ready to accept connections")) {
                // of the platform: reading from a process keeps a carrier
                Thread.ofPlatform().daemon().start(() -> log.lines().forEach(more -> {}));
                return starting;
            }
            all.append(line).append('\n');
        }
        throw new AssertionError("Redis has not started: " + all);
    }

    void start() throws IOException {
        process = started();
    }

    /** From now on it starts with the data of this moment. */
    void save() throws IOException {
        if (!ask("SAVE").equals("+OK")) {
            throw new AssertionError("Redis has not saved");
        }
    }

    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    void pause() throws IOException, InterruptedException {
        Replica.signal("STOP", process);
    }

    void goOn() throws IOException, InterruptedException {
        Replica.signal("CONT", process);
    }

    /** Number of scripts since the last call of {@link #resetStatistics()}. */
    long scripts() throws IOException {
        long scripts = 0;
        for (String line : ask("INFO commandstats").split("\r\n")) {
            if (line.startsWith("cmdstat_eval")) {
                scripts += Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(',')));
            }
        }
        return scripts;
    }

    void resetStatistics() throws IOException {
        ask("CONFIG RESETSTAT");
    }

    /** The answer to a command that answers with one text. */
    private String ask(String command) throws IOException {
        try (Socket connection = new Socket(InetAddress.getLoopbackAddress(), port)) {
            connection.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
            DataInputStream in = new DataInputStream(connection.getInputStream());
            String first = line(in);
            return first.startsWith("$")
                    ? new String(in.readNBytes(Integer.parseInt(first.substring(1))), StandardCharsets.UTF_8)
                    : first;
        }
    }

    private static String line(DataInputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.readByte(); next != '\r'; next = in.readByte()) {
            line.append((char) next);
        }
        in.readByte();
        return line.toString();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            Files.deleteIfExists(folder.resolve("dump.rdb"));
            Files.deleteIfExists(folder);
        } catch (IOException left) {
            // in the folder for temporary files
        }
    }
}
