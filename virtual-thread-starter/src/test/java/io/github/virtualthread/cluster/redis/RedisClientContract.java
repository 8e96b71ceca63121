package io.github.virtualthread.cluster.redis;

import static io.github.virtualthread.cluster.TestClaims.LONG;
import static io.github.virtualthread.cluster.redis.TestRedis.claim;
import static io.github.virtualthread.cluster.redis.TestRedis.close;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.cluster.Answer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

/** What only Redis does and what its clients report in ways of their own: connections, errors, interrupts, scripts it has forgotten. */
@TestInstance(Lifecycle.PER_CLASS)
interface RedisClientContract {

    TestRedis redis();

    private List<Answer> exchange(int number) {
        return redis().engine().exchange(List.of(claim("partner", number, LONG)));
    }

    @AfterAll
    default void disconnect() throws Exception {
        redis().close();
    }

    @Test
    default void sendsTheScriptAgainWhenTheServerHasForgottenIt() {
        exchange(1);
        redis().command("SCRIPT", "FLUSH");

        assertThat(exchange(2)).extracting(Answer::share).containsExactly(4);
        redis().command("CONFIG", "RESETSTAT");
        exchange(3);
        assertThat(redis().calls("evalsha")).isEqualTo(1);
        assertThat(redis().calls("eval")).isZero();
    }

    @Test
    default void needsNoOtherCommandsThanItSays() throws Exception {
        redis().command("ACL", "SETUSER", "modest", "reset", "on", ">secret", "~virtual-thread:*", "+ping", "+hello");
        RedisConnectionFactory modest = redis().connectAs("modest", "secret");
        try {
            RedisClusterEngine other = new RedisClusterEngine(modest, redis().cluster());
            assertThatThrownBy(() -> other.exchange(List.of(claim("partner", 1, LONG))))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("Redis did not answer for cluster '" + redis().cluster() + "': NOPERM ")
                    .hasMessageEndingWith(". Allow its user these keys and commands: ~virtual-thread:*"
                            + " +evalsha +eval +time +info +hgetall +hset +hdel +pexpire");
            redis().command("ACL", "SETUSER", "modest", "+evalsha", "+eval");
            assertThatThrownBy(() -> other.exchange(List.of(claim("partner", 1, LONG))))
                    .as("a command in the script")
                    .hasMessageContaining(" +pexpire");

            redis().command("ACL", "SETUSER", "modest", "+time", "+info", "+hgetall", "+hset", "+hdel", "+pexpire");

            other.exchange(List.of(claim("partner", 1, LONG)));
            other.exchange(List.of(claim("partner", 2, Duration.ZERO)));
        } finally {
            close(modest);
            redis().command("ACL", "SETUSER", "modest", "reset");
        }
    }

    @Test
    default void aWrongPasswordIsAnError() throws Exception {
        redis().command("ACL", "SETUSER", "modest", "reset", "on", ">secret");
        RedisConnectionFactory modest = redis().connectAs("modest", "other");
        try {
            RedisClusterEngine other = new RedisClusterEngine(modest, redis().cluster());
            assertThatThrownBy(() -> other.exchange(List.of(claim("partner", 1, LONG))))
                    .hasMessageContaining("WRONGPASS")
                    .hasMessageNotContaining("..");
        } finally {
            close(modest);
            redis().command("ACL", "SETUSER", "modest", "reset");
        }
    }

    @Test
    default void aServerThatIsDownIsAnError() throws Exception {
        RedisConnectionFactory nowhere =
                redis().connect(new RedisStandaloneConfiguration(RedisTestServer.HOST, RedisTestServer.freePort()));
        try {
            RedisClusterEngine other = new RedisClusterEngine(nowhere, "shop");
            assertThatThrownBy(() -> other.exchange(List.of(claim("partner", 1, LONG))))
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
    default void anInterruptEndsAnExchange() throws Exception {
        exchange(1);
        redis().command("CLIENT", "PAUSE", "120000", "WRITE");
        try {
            CompletableFuture<Exception> failure = new CompletableFuture<>();
            Thread thread = Thread.startVirtualThread(() -> {
                try {
                    exchange(2);
                } catch (Exception e) {
                    failure.complete(e);
                }
            });
            while (redis().info("clients").getProperty("blocked_clients").equals("0")) {
                Thread.onSpinWait();
            }

            thread.interrupt();

            assertThat(failure.get())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("Redis did not answer for cluster '" + redis().cluster() + "': ")
                    .hasMessageNotContaining("null")
                    .hasMessageNotContaining("InterruptedException"); // says nothing to who reads the log
        } finally {
            redis().command("CLIENT", "UNPAUSE");
        }
        assertThat(exchange(3)).hasSize(1);
    }

    @Test
    default void aServerWithoutMemoryIsAnError() {
        redis().command("CONFIG", "SET", "maxmemory", "1");
        try {
            assertThatThrownBy(() -> exchange(1))
                    .hasMessageEndingWith(". Raise its maxmemory, or use a Redis that is not full");
        } finally {
            redis().command("CONFIG", "SET", "maxmemory", "0");
        }
    }

    @Test
    default void aReplicaOfRedisIsAnError() {
        redis().command("REPLICAOF", RedisTestServer.HOST, Integer.toString(RedisTestServer.freePort()));
        try {
            assertThatThrownBy(() -> exchange(1))
                    .hasMessageEndingWith(". Connect to the primary: a replica stores nothing");
        } finally {
            redis().command("REPLICAOF", "NO", "ONE");
        }
    }
}
