package io.github.virtualthread.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** A pgbouncer of its own before a server, with few sessions, as the system has installed it. */
final class PgBouncer implements AutoCloseable {

    private final Process process;
    private final Path log;
    final int port;

    /** Skips the test where pgbouncer is not installed. */
    PgBouncer(String database, String mode, int sessions) throws Exception {
        String program = Stream.of("/usr/sbin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin")
                .map(folder -> folder + "/pgbouncer")
                .filter(each -> new File(each).canExecute())
                .findFirst()
                .orElse("");
        Assumptions.assumeFalse(
                program.isEmpty(), "pgbouncer is not installed: apt-get install pgbouncer, or brew install pgbouncer");
        URI server = URI.create(database.substring("jdbc:".length()));
        port = freePort();
        Path folder = Files.createTempDirectory("pgbouncer");
        folder.toFile().deleteOnExit();
        log = folder.resolve("log");
        log.toFile().deleteOnExit();
        Path settings = folder.resolve("pgbouncer.ini");
        settings.toFile().deleteOnExit();
        Files.writeString(
                settings, """
                [databases]
                postgres = host=127.0.0.1 port=%d dbname=%s user=postgres
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = %s
                default_pool_size = %d
                max_client_conn = 100
                ignore_startup_parameters = extra_float_digits
                """.formatted(server.getPort(), server.getPath().substring(1), port, mode, sessions));
        List<String> command = new ArrayList<>(List.of(program));
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("-u", "nobody")); // otherwise it refuses
        }
        command.add(settings.toString());
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        await().atMost(Duration.ofMinutes(1)).until(this::listens);
    }

    private static int freePort() throws IOException {
        try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return any.getLocalPort();
        }
    }

    private boolean listens() throws IOException {
        assertThat(process.isAlive()).as(() -> read(log)).isTrue();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException notYet) {
            return false;
        }
    }

    private static String read(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException absent) {
            return absent.toString();
        }
    }

    String url() {
        return "jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres&prepareThreshold=0".formatted(port);
    }

    @Override
    public void close() throws InterruptedException {
        process.destroy();
        assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    }
}
