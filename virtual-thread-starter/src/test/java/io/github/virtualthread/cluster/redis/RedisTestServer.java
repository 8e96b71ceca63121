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
        start(PORT);
    }

    private RedisTestServer() {}

    /** Port of the server, which runs. */
    public static int port() {
        return PORT;
    }

    /** Starts another server, which stops with the JVM at the latest. */
    static RedisServer start(int port, String... settings) {
        try {
            var builder = RedisServer.newRedisServer()
                    .bind(HOST)
                    .port(port)
                    .setting("save \"\"")
                    .setting("appendonly no");
            for (String setting : settings) {
                builder.setting(setting);
            }
            RedisServer server = builder.build();
            server.start();
            return server;
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

    /** To a server of this machine. */
    static LettuceConnectionFactory lettuce(int port) {
        return lettuce(new RedisStandaloneConfiguration(HOST, port));
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(HOST))) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
