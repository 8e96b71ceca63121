package io.github.virtualthread.cluster.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import redis.embedded.RedisServer;

/** One Redis for all tests of a JVM, on a free port; it stops with the JVM. */
public final class RedisTestServer {

    public static final String HOST = "127.0.0.1";

    private static final int PORT = freePort();

    static {
        start();
    }

    private RedisTestServer() {}

    /** Port of the server, which runs. */
    public static int port() {
        return PORT;
    }

    private static void start() {
        try {
            RedisServer.newRedisServer()
                    .bind(HOST)
                    .port(PORT)
                    .setting("save \"\"")
                    .setting("appendonly no")
                    .build()
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Connections by Lettuce, which the caller destroys. */
    static LettuceConnectionFactory lettuce(RedisConfiguration server) {
        LettuceConnectionFactory connections =
                new LettuceConnectionFactory(server, LettuceClientConfiguration.defaultConfiguration());
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    /** To this server. */
    public static LettuceConnectionFactory lettuce() {
        return lettuce(new RedisStandaloneConfiguration(HOST, PORT));
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
