package io.github.virtualthread.sample.lab.experiment;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.springframework.core.NestedExceptionUtils;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;

/** Redis, started for one run and deleted with it. It keeps its data while it is stopped. */
final class ReplicaRedis implements AutoCloseable {

    private static final InetAddress HERE = InetAddress.getLoopbackAddress();

    private final TemporaryFolder folder;
    private final RedisServer server;
    private final int port;
    private boolean running;

    private ReplicaRedis(TemporaryFolder folder, RedisServer server, int port) {
        this.folder = folder;
        this.server = server;
        this.port = port;
    }

    /**
     * Starts one on a port that is free.
     *
     * @throws IOException if there is no program for this system, or it does not run here
     */
    static ReplicaRedis start() throws IOException {
        TemporaryFolder folder = TemporaryFolder.create("redis");
        try {
            int port = freePort();
            RedisServer server = RedisServer.newRedisServer()
                    .executableProvider(ExecutableProvider.newJarResourceProvider(
                            folder.path().toFile()))
                    .bind(HERE.getHostAddress())
                    .port(port)
                    .setting("dir \"%s\"".formatted(folder.path().toString().replace('\\', '/')))
                    .setting("save 3600 1") // and when it stops
                    .build();
            ReplicaRedis redis = new ReplicaRedis(folder, server, port);
            redis.goOn();
            return redis;
        } catch (IOException | RuntimeException failure) {
            folder.close();
            throw failure;
        }
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, HERE)) {
            return socket.getLocalPort();
        }
    }

    int port() {
        return port;
    }

    /** Starts it again, with the data it had. A failure has the last lines of its log. */
    void goOn() throws IOException {
        try {
            server.start();
        } catch (IOException failure) {
            throw new IOException(
                    "Redis did not start: "
                            + NestedExceptionUtils.getMostSpecificCause(failure).getMessage(),
                    failure);
        }
        running = true;
    }

    void stop() throws IOException {
        if (running) {
            running = false;
            server.stop();
        }
    }

    @Override
    public void close() throws IOException {
        try (folder) {
            stop();
        }
    }
}
