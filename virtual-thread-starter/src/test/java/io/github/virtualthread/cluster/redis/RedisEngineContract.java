package io.github.virtualthread.cluster.redis;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.test.ClusterEngineContract;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.core.StringRedisTemplate;

/** What only Redis does, by each client. */
@TestInstance(Lifecycle.PER_CLASS)
abstract class RedisEngineContract extends ClusterEngineContract {

    private static final AtomicInteger CLUSTERS = new AtomicInteger();

    private RedisConnectionFactory connections;
    private RedisConnectionFactory operator; // of its own: an exchange that hangs does not hold it up
    private StringRedisTemplate redis;
    private String cluster;
    private RedisClusterEngine engine;

    /** Returns connections to that server, which {@link #close} closes. */
    abstract RedisConnectionFactory connect(RedisStandaloneConfiguration server);

    @BeforeAll
    void connect() {
        connections = connect(standalone());
        operator = connect(standalone());
        redis = new StringRedisTemplate(operator);
    }

    @AfterAll
    void disconnect() throws Exception {
        close(connections);
        close(operator);
    }

    private static void close(RedisConnectionFactory connections) throws Exception {
        ((DisposableBean) connections).destroy();
    }

    @Override
    protected ClusterEngine engine() {
        cluster = "shop " + CLUSTERS.incrementAndGet();
        engine = new RedisClusterEngine(connections, cluster);
        return engine;
    }

    @Override
    protected void loseData() {
        command("FLUSHALL");
    }

    @Override
    protected Runnable backup() {
        Map<String, Map<Object, Object>> backup = new HashMap<>();
        keys().forEach(key -> backup.put(key, redis.opsForHash().entries(key)));
        return () -> {
            redis.delete(keys());
            backup.forEach((key, fields) -> redis.opsForHash().putAll(key, fields));
        };
    }

    /** {@link RedisRestartTests} has a real one. */
    @Override
    protected void changeServer() {
        for (String key : keys()) {
            String limit = String.valueOf(redis.opsForHash().get(key, "limit"));
            redis.opsForHash().put(key, "limit", limit.replaceFirst("\\w+$", "another"));
        }
    }

    private Set<String> keys() {
        return redis.keys("virtual-thread:*");
    }

    @Test
    void oneCommandServesAllLimitsOfAnExchange() {
        engine.exchange(List.of(claim("mail", 1, Duration.ofSeconds(10))));
        command("CONFIG", "RESETSTAT");

        for (int number = 2; number <= 4; number++) {
            assertThat(engine.exchange(List.of(
                            claim("mail", number, LONG), claim("partner", number, LONG), claim("fax", number, LONG))))
                    .hasSize(3);
        }

        assertThat(calls("evalsha")).isEqualTo(3);
        assertThat(calls("eval")).isZero();
    }

    @Test
    void sendsTheScriptAgainWhenTheServerHasForgottenIt() {
        engine.exchange(List.of(claim("partner", 1, LONG)));
        command("SCRIPT", "FLUSH");

        assertThat(engine.exchange(List.of(claim("partner", 2, LONG))))
                .extracting(Answer::share)
                .containsExactly(4);
        command("CONFIG", "RESETSTAT");
        engine.exchange(List.of(claim("partner", 3, LONG)));
        assertThat(calls("evalsha")).isEqualTo(1);
        assertThat(calls("eval")).isZero();
    }

    @Test
    void allLimitsOfAClusterAreInOneSlot() {
        engine.exchange(List.of(claim("mail", 1, LONG), claim("partner", 1, LONG)));

        assertThat(redis.hasKey("virtual-thread:{" + cluster + "}:mail")).isTrue();
        assertThat(redis.hasKey("virtual-thread:{" + cluster + "}:partner")).isTrue();
    }

    @Test
    void clustersHaveNothingInCommon() {
        engine.exchange(List.of(claim("partner", 1, LONG)));

        Answer other = new RedisClusterEngine(connections, cluster + "b")
                .exchange(List.of(claim("b", "partner", 1, LONG)))
                .getFirst();

        assertThat(other.others()).isEmpty();
    }

    @Test
    void aKeyExpiresAMonthAfterTheLastClaim() {
        engine.exchange(List.of(claim("partner", 1, Duration.ofSeconds(10))));
        assertThat(daysToLive()).isEqualTo(30);
        redis.expire(key(), Duration.ofSeconds(100));

        engine.exchange(List.of(claim("partner", 2, Duration.ZERO)));
        assertThat(daysToLive()).as("also if that was a goodbye").isEqualTo(30);
    }

    @Test
    void aKeyExpiresAfterTheLongestLease() {
        engine.exchange(List.of(claim("partner", 1, Duration.ofDays(40))));
        assertThat(daysToLive()).isEqualTo(40);

        engine.exchange(List.of(claim("b", "partner", 1, Duration.ofSeconds(10))));
        assertThat(daysToLive()).as("another member has a long lease").isEqualTo(40);
    }

    @Test
    void aMemberThatLeavesLeavesNothingBehind() {
        engine.exchange(List.of(claim("new", 1, Duration.ZERO)));
        assertThat(redis.hasKey("virtual-thread:{" + cluster + "}:new")).isFalse();
        engine.exchange(List.of(claim("partner", 1, LONG)));
        engine.exchange(List.of(claim("partner", 2, Duration.ZERO)));

        assertThat(redis.opsForHash().keys(key())).containsExactly("limit");
    }

    @Test
    void membersThatAreForgottenLeaveNothingBehind() {
        engine.exchange(List.of(claim("b", "partner", 1, LONG)));
        redis.opsForHash().put(key(), "member:b", "0000000000000000001 0 0 10 4 1000 1000 10000 0");

        engine.exchange(List.of(claim("partner", 1, LONG)));

        assertThat(redis.opsForHash().keys(key())).containsExactlyInAnyOrder("limit", "member:a");
    }

    @Test
    void aKeyOfAnotherTypeRefusesItsOwnClaimOnly() {
        redis.opsForValue().set(key(), "something else");

        List<Answer> answers =
                engine.exchange(List.of(claim("mail", 1, LONG), claim("partner", 1, LONG), claim("fax", 1, LONG)));

        assertThat(answers).extracting(Answer::share).containsExactly(4, 0, 4);
        assertThat(answers.get(1).refusal())
                .isEqualTo("Redis key '" + key()
                        + "' cannot hold limit 'partner': WRONGTYPE Operation against a key holding"
                        + " the wrong kind of value. Delete the key if nothing else uses it, or rename the limit");
        assertThat(redis.opsForValue().get(key())).isEqualTo("something else");
    }

    @ParameterizedTest
    @CsvSource({
        "epoch, 5",
        "limit, x",
        "limit, 1 2 3 4 5 6",
        "member:b, 0000000000000000001 0 0 10",
        "member, 0000000000000000001 0 0 10 4 1000 1000 10000 0"
    })
    void aHashOfSomethingElseRefusesItsOwnClaimOnly(String field, String value) {
        redis.delete(key());
        redis.opsForHash().put(key(), field, value);

        List<Answer> answers = engine.exchange(List.of(claim("partner", 1, LONG), claim("mail", 1, LONG)));

        assertThat(answers.get(0).refusal())
                .isEqualTo("Redis key '" + key() + "' cannot hold limit 'partner': its field " + field
                        + " was not written by this version of the starter. Delete the key if nothing else uses it, or rename"
                        + " the limit");
        assertThat(answers.get(1).share()).isEqualTo(4);
        assertThat(redis.opsForHash().entries(key())).containsOnly(Map.entry(field, value));
    }

    @Test
    void needsNoOtherCommandsThanItSays() throws Exception {
        command("ACL", "SETUSER", "modest", "reset", "on", ">secret", "~virtual-thread:*", "+ping", "+hello");
        var configuration = standalone();
        configuration.setUsername("modest");
        configuration.setPassword("secret");
        RedisConnectionFactory modest = connect(configuration);
        try {
            RedisClusterEngine engine = new RedisClusterEngine(modest, cluster);
            assertThatThrownBy(() -> engine.exchange(List.of(claim("partner", 1, LONG))))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("Redis did not answer for cluster '" + cluster + "': NOPERM ")
                    .hasMessageEndingWith(". Allow its user these keys and commands: ~virtual-thread:*"
                            + " +evalsha +eval +time +info +hgetall +hset +hdel +pexpire");
            command("ACL", "SETUSER", "modest", "+evalsha", "+eval");
            assertThatThrownBy(() -> engine.exchange(List.of(claim("partner", 1, LONG))))
                    .as("a command in the script")
                    .hasMessageContaining(" +pexpire");

            command("ACL", "SETUSER", "modest", "+time", "+info", "+hgetall", "+hset", "+hdel", "+pexpire");

            engine.exchange(List.of(claim("partner", 1, LONG)));
            engine.exchange(List.of(claim("partner", 2, Duration.ZERO)));
        } finally {
            close(modest);
            command("ACL", "SETUSER", "modest", "reset");
        }
    }

    @Test
    void aWrongPasswordIsAnError() throws Exception {
        command("ACL", "SETUSER", "modest", "reset", "on", ">secret");
        var configuration = standalone();
        configuration.setUsername("modest");
        configuration.setPassword("other");
        RedisConnectionFactory modest = connect(configuration);
        try {
            RedisClusterEngine engine = new RedisClusterEngine(modest, cluster);
            assertThatThrownBy(() -> engine.exchange(List.of(claim("partner", 1, LONG))))
                    .hasMessageContaining("WRONGPASS")
                    .hasMessageNotContaining("..");
        } finally {
            close(modest);
            command("ACL", "SETUSER", "modest", "reset");
        }
    }

    @Test
    void aServerThatIsDownIsAnError() throws Exception {
        RedisConnectionFactory nowhere =
                connect(new RedisStandaloneConfiguration(RedisTestServer.HOST, RedisTestServer.freePort()));
        try {
            RedisClusterEngine engine = new RedisClusterEngine(nowhere, "shop");
            assertThatThrownBy(() -> engine.exchange(List.of(claim("partner", 1, LONG))))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("Redis did not answer for cluster 'shop': ")
                    .hasMessageEndingWith(
                            ". Check that it runs, and its address, user and password in spring.data.redis");
        } finally {
            close(nowhere);
        }
    }

    /** A virtual thread, as exchanges have it; the server does not answer before it is over. */
    @Test
    void anInterruptEndsAnExchange() throws Exception {
        engine.exchange(List.of(claim("partner", 1, LONG)));
        command("CLIENT", "PAUSE", "120000", "WRITE");
        try {
            CompletableFuture<Exception> failure = new CompletableFuture<>();
            Thread thread = Thread.startVirtualThread(() -> {
                try {
                    engine.exchange(List.of(claim("partner", 2, LONG)));
                } catch (Exception e) {
                    failure.complete(e);
                }
            });
            while (info("clients").getProperty("blocked_clients").equals("0")) {
                Thread.onSpinWait();
            }

            thread.interrupt();

            assertThat(failure.get())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("Redis did not answer for cluster '" + cluster + "': ")
                    .hasMessageNotContaining("null")
                    .hasMessageNotContaining("InterruptedException"); // says nothing to who reads the log
        } finally {
            command("CLIENT", "UNPAUSE");
        }
        assertThat(engine.exchange(List.of(claim("partner", 3, LONG)))).hasSize(1);
    }

    @Test
    void aServerWithoutMemoryIsAnError() {
        command("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThatThrownBy(() -> engine.exchange(List.of(claim("partner", 1, LONG))))
                    .hasMessageEndingWith(". Raise its maxmemory, or use a Redis that is not full");
        } finally {
            command("CONFIG", "SET", "maxmemory", "0");
        }
    }

    @Test
    void aReplicaOfRedisIsAnError() {
        command("REPLICAOF", RedisTestServer.HOST, Integer.toString(RedisTestServer.freePort()));
        try {
            assertThatThrownBy(() -> engine.exchange(List.of(claim("partner", 1, LONG))))
                    .hasMessageEndingWith(". Connect to the primary: a replica stores nothing");
        } finally {
            command("REPLICAOF", "NO", "ONE");
        }
    }

    private String key() {
        return "virtual-thread:{" + cluster + "}:partner";
    }

    private long daysToLive() {
        return Math.round(redis.getExpire(key(), TimeUnit.SECONDS) / 86_400.0);
    }

    /** Number of calls of a command since the statistics were reset. */
    private long calls(String command) {
        String line = info("commandstats").getProperty("cmdstat_" + command, "calls=0,");
        return Long.parseLong(line.substring(line.indexOf('=') + 1, line.indexOf(',')));
    }

    private Properties info(String section) {
        return redis.execute(
                (RedisConnection connection) -> connection.serverCommands().info(section));
    }

    private void command(String name, String... arguments) {
        byte[][] bytes = new byte[arguments.length][];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = arguments[i].getBytes(StandardCharsets.UTF_8);
        }
        redis.execute((RedisConnection connection) -> connection.execute(name, bytes));
    }

    private static RedisStandaloneConfiguration standalone() {
        return new RedisStandaloneConfiguration(RedisTestServer.HOST, RedisTestServer.port());
    }

    private static Claim claim(String limit, long number, Duration lease) {
        return claim("a", limit, number, lease);
    }

    private static Claim claim(String member, String limit, long number, Duration lease) {
        int asks = lease.isZero() ? 0 : 4;
        return new Claim(limit, member, number, 0, Duration.ZERO, 10, 0, asks, asks, 0, 0, Duration.ZERO, lease);
    }
}
