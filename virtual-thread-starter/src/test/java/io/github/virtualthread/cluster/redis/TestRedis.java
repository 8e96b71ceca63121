package io.github.virtualthread.cluster.redis;

import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.RedisProcess;
import io.github.virtualthread.cluster.TestClaims;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/** One Redis for all tests of a JVM, by one client: an engine, and its keys. */
public final class TestRedis implements AutoCloseable {

    static final RedisProcess SERVER = server();
    private static final AtomicInteger CLUSTERS = new AtomicInteger();

    /** Connects; what it returns is a bean that can be destroyed. */
    interface Client {
        RedisConnectionFactory connect(RedisStandaloneConfiguration server);
    }

    private final Client client;
    private final RedisConnectionFactory connections;
    private final StringRedisTemplate template;
    private String cluster = "";
    private RedisClusterEngine engine;

    TestRedis(Client client) {
        this.client = client;
        connections = client.connect(server(SERVER.port()));
        template = new StringRedisTemplate(connections);
        engine = newEngine();
    }

    private static RedisProcess server() {
        try {
            return new RedisProcess();
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static RedisStandaloneConfiguration server(int port) {
        return new RedisStandaloneConfiguration("127.0.0.1", port);
    }

    /** Connections by Lettuce, which the caller destroys. */
    public static LettuceConnectionFactory lettuce() {
        return lettuce(server(SERVER.port()));
    }

    static LettuceConnectionFactory lettuce(RedisConfiguration server) {
        LettuceConnectionFactory connections =
                new LettuceConnectionFactory(server, LettuceClientConfiguration.defaultConfiguration());
        connections.afterPropertiesSet();
        connections.start();
        return connections;
    }

    RedisConnectionFactory connectToNobody() throws IOException {
        return client.connect(server(RedisProcess.freePort()));
    }

    RedisConnectionFactory connectAs(String user, String password) {
        RedisStandaloneConfiguration server = server(SERVER.port());
        server.setUsername(user);
        server.setPassword(password);
        return client.connect(server);
    }

    static void close(RedisConnectionFactory connections) throws Exception {
        ((DisposableBean) connections).destroy();
    }

    @Override
    public void close() throws Exception {
        close(connections);
    }

    /** Of a cluster that has no data. */
    RedisClusterEngine newEngine() {
        cluster = "shop " + CLUSTERS.incrementAndGet();
        engine = new RedisClusterEngine(connections, cluster);
        return engine;
    }

    /** The last one. */
    RedisClusterEngine engine() {
        return engine;
    }

    String cluster() {
        return cluster;
    }

    StringRedisTemplate template() {
        return template;
    }

    String key(String limit) {
        return "virtual-thread:{" + cluster + "}:" + limit;
    }

    /** Of member {@code a}; a goodbye if the lease is zero. */
    static Claim claim(String limit, long number, Duration lease) {
        return claim("a", limit, number, lease);
    }

    static Claim claim(String member, String limit, long number, Duration lease) {
        return TestClaims.claim(limit, member, number, 0, 0, lease.isZero() ? 0 : 4, lease);
    }
}
