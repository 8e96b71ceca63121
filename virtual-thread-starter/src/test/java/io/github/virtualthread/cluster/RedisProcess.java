package io.github.virtualthread.cluster;

import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.springframework.util.FileSystemUtils;
import redis.embedded.core.ExecutableProvider;

/**
 * A Redis that can be paused, killed, and started again, always on the same port: without its data, or with those of a snapshot. Another
 * program, such as that of Valkey, by {@code -Dredis.program}.
 */
public final class RedisProcess implements AutoCloseable {

    private static final long PATIENCE = TimeUnit.MINUTES.toNanos(4);
    private static final int BUS = 10_000; // the port of a cluster's bus is so much higher

    private final String program;
    private final int port = freePort();
    private final Path folder = Files.createTempDirectory("redis");
    private final String[] options;
    private Process process;

    /** With options as in a command line. */
    public RedisProcess(String... options) throws IOException {
        String known = System.getProperty("redis.program");
        program = known != null
                ? known
                : ExecutableProvider.newJarResourceProvider().get().getPath();
        this.options = options;
        Files.createFile(folder.resolve("redis.conf")); // a Sentinel writes it
        process = started();
        Runtime.getRuntime().addShutdownHook(new Thread(this::close));
    }

    public static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            int free = socket.getLocalPort();
            return free + BUS < 65_536 ? free : freePort();
        }
    }

    public int port() {
        return port;
    }

    private Process started() throws IOException {
        List<String> command =
                new ArrayList<>(List.of(program, folder.resolve("redis.conf").toString()));
        command.addAll(List.of("--port", "" + port, "--bind", "127.0.0.1", "--dir", folder.toString()));
        command.addAll(List.of("--save", "", "--appendonly", "no"));
        for (String option : options) {
            command.addAll(List.of(option.split(" ")));
        }
        Process starting = new ProcessBuilder(command).redirectErrorStream(true).start();
        BufferedReader log = starting.inputReader();
        StringBuilder all = new StringBuilder();
        for (String line = log.readLine(); line != null; line = log.readLine()) {
            if (line.contains("Ready to accept connections") || line.contains("Sentinel ID is")) {
                // of the platform: reading from a process keeps a carrier
                Thread.ofPlatform().daemon().start(() -> log.lines().forEach(more -> {}));
                return starting;
            }
            all.append(line).append('\n');
        }
        throw new AssertionError("Redis has not started: " + all);
    }

    /** Unless it runs. */
    void start() throws IOException {
        if (!process.isAlive()) {
            process = started();
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

    /** Number of commands since the last {@code CONFIG RESETSTAT} whose names begin so. */
    public long calls(String name) throws IOException {
        long calls = 0;
        for (String line : ask("INFO commandstats").split("\r\n")) {
            if (line.startsWith("cmdstat_" + name)) {
                calls += Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(',')));
            }
        }
        return calls;
    }

    /** Asks until the answer contains this. */
    void await(String command, String part) throws IOException {
        long end = System.nanoTime() + PATIENCE;
        for (String answer = ask(command); !answer.contains(part); answer = ask(command)) {
            if (System.nanoTime() - end > 0) {
                throw new AssertionError("not seen: " + part + "; " + answer);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    /** The answer to a command that answers with one text. */
    public String ask(String command) throws IOException {
        try (Socket connection = new Socket(InetAddress.getLoopbackAddress(), port)) {
            connection.getOutputStream().write((command + "\r\n").getBytes(StandardCharsets.UTF_8));
            DataInputStream in = new DataInputStream(connection.getInputStream());
            String first = line(in);
            if (first.startsWith("-")) {
                throw new AssertionError(command + ": " + first);
            }
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
        FileSystemUtils.deleteRecursively(folder.toFile());
    }
}
