package io.github.virtualthread.cluster.redis;

import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.TestClaims;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.core.StringRedisTemplate;

/** The Redis of all tests, by one client: an engine, and what a test does to its data and to the server. */
final class TestRedis implements AutoCloseable {

    private static final AtomicInteger CLUSTERS = new AtomicInteger();

    /** Connects; what it returns is a bean that can be destroyed. */
    interface Client {
        RedisConnectionFactory connect(RedisStandaloneConfiguration server);
    }

    private final Client client;
    private final RedisConnectionFactory connections;
    private final RedisConnectionFactory operator; // of its own: an exchange that hangs does not hold it up
    private final StringRedisTemplate template;
    private String cluster = "";
    private RedisClusterEngine engine;

    TestRedis(Client client) {
        this.client = client;
        connections = client.connect(standalone());
        operator = client.connect(standalone());
        template = new StringRedisTemplate(operator);
        engine = newEngine();
    }

    private static RedisStandaloneConfiguration standalone() {
        return new RedisStandaloneConfiguration(RedisTestServer.HOST, RedisTestServer.port());
    }

    RedisConnectionFactory connect(RedisStandaloneConfiguration server) {
        return client.connect(server);
    }

    RedisConnectionFactory connectAs(String user, String password) {
        RedisStandaloneConfiguration server = standalone();
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
        close(operator);
    }

    /** Of a cluster that has no data. */
    RedisClusterEngine newEngine() {
        cluster = "shop " + CLUSTERS.incrementAndGet();
        engine = engineOf(cluster);
        return engine;
    }

    RedisClusterEngine engineOf(String name) {
        return new RedisClusterEngine(connections, name);
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

    void loseData() {
        command("FLUSHALL");
    }

    /** Returns what puts the data of now back. */
    Runnable backup() {
        Map<String, Map<Object, Object>> backup = new HashMap<>();
        keys().forEach(key -> backup.put(key, template.opsForHash().entries(key)));
        return () -> {
            template.delete(keys());
            backup.forEach((key, fields) -> template.opsForHash().putAll(key, fields));
        };
    }

    /** {@code ClusterOutageTests} has a real one. */
    void changeServer() {
        for (String key : keys()) {
            String limit = String.valueOf(template.opsForHash().get(key, "limit"));
            template.opsForHash().put(key, "limit", limit.replaceFirst("\\w+$", "another"));
        }
    }

    private Set<String> keys() {
        return template.keys("virtual-thread:*");
    }

    String key(String limit) {
        return "virtual-thread:{" + cluster + "}:" + limit;
    }

    /** Number of calls of a command since the statistics were reset. */
    long calls(String command) {
        String line = info("commandstats").getProperty("cmdstat_" + command, "calls=0,");
        return Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(',')));
    }

    Properties info(String section) {
        return template.execute(
                (RedisConnection connection) -> connection.serverCommands().info(section));
    }

    void command(String name, String... arguments) {
        byte[][] bytes = new byte[arguments.length][];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = arguments[i].getBytes(StandardCharsets.UTF_8);
        }
        template.execute((RedisConnection connection) -> connection.execute(name, bytes));
    }

    /** Of member {@code a}; a goodbye if the lease is zero. */
    static Claim claim(String limit, long number, Duration lease) {
        return claim("a", limit, number, lease);
    }

    static Claim claim(String member, String limit, long number, Duration lease) {
        return TestClaims.claim(limit, member, number, 0, 0, lease.isZero() ? 0 : 4, lease);
    }
}
