package io.github.virtualthread.cluster.redis;

import static io.github.virtualthread.cluster.TestClaims.LONG;
import static io.github.virtualthread.cluster.redis.TestRedis.SERVER;
import static io.github.virtualthread.cluster.redis.TestRedis.claim;
import static io.github.virtualthread.cluster.redis.TestRedis.close;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.RedisProcess;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/** What only Redis does and what its clients report in ways of their own: connections, errors, interrupts, scripts it has forgotten. */
@TestInstance(Lifecycle.PER_CLASS)
abstract class RedisClientContract {

    final TestRedis redis;

    RedisClientContract(TestRedis.Client client) {
        redis = new TestRedis(client);
    }

    /** In each test these limits have no data, and are not new. */
    @BeforeEach
    void begin() {
        redis.newEngine();
        for (String limit : List.of("partner", "mail", "fax")) {
            redis.engine().exchange(List.of(claim(limit, 1, Duration.ofMillis(1)))); // it is new for so long
            List<Answer> answers;
            do {
                answers = redis.engine().exchange(List.of(claim(limit, Long.MAX_VALUE, Duration.ZERO)));
            } while (!answers.getFirst().noGrowthFor().isZero());
        }
    }

    @AfterAll
    void disconnect() throws Exception {
        redis.close();
    }

    private List<Answer> exchange(int number) {
        return redis.engine().exchange(List.of(claim("partner", number, LONG)));
    }

    @Test
    void sendsTheScriptAgainWhenTheServerHasForgottenIt() throws Exception {
        exchange(1);
        SERVER.ask("SCRIPT FLUSH");

        assertThat(exchange(2)).extracting(Answer::share).containsExactly(4);
        SERVER.ask("CONFIG RESETSTAT");
        exchange(3);
        assertThat(SERVER.calls("evalsha")).isEqualTo(1);
        assertThat(SERVER.calls("eval")).as("no script was sent").isEqualTo(1);
    }

    @Test
    void needsNoOtherCommandsThanItSays() throws Exception {
        SERVER.ask("ACL SETUSER modest reset on >secret ~virtual-thread:* +ping +hello");
        RedisConnectionFactory modest = redis.connectAs("modest", "secret");
        try {
            RedisClusterEngine other = new RedisClusterEngine(modest, redis.cluster());
            assertThatThrownBy(() -> other.exchange(List.of(claim("partner", 1, LONG))))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("Redis did not answer for cluster '" + redis.cluster() + "': NOPERM ")
                    .hasMessageEndingWith(". Allow its user these keys and commands: ~virtual-thread:*"
                            + " +evalsha +eval +time +info +hgetall +hset +hdel +pexpire");
            SERVER.ask("ACL SETUSER modest +evalsha +eval");
            assertThatThrownBy(() -> other.exchange(List.of(claim("partner", 1, LONG))))
                    .as("a command in the script")
                    .hasMessageContaining(" +pexpire");

            SERVER.ask("ACL SETUSER modest +time +info +hgetall +hset +hdel +pexpire");

            other.exchange(List.of(claim("partner", 1, LONG)));
            other.exchange(List.of(claim("partner", 2, Duration.ZERO)));
        } finally {
            close(modest);
            SERVER.ask("ACL SETUSER modest reset");
        }
    }

    @Test
    void aWrongPasswordIsAnError() throws Exception {
        SERVER.ask("ACL SETUSER modest reset on >secret");
        RedisConnectionFactory modest = redis.connectAs("modest", "other");
        try {
            RedisClusterEngine other = new RedisClusterEngine(modest, redis.cluster());
            assertThatThrownBy(() -> other.exchange(List.of(claim("partner", 1, LONG))))
                    .hasMessageContaining("WRONGPASS")
                    .hasMessageNotContaining("..");
        } finally {
            close(modest);
            SERVER.ask("ACL SETUSER modest reset");
        }
    }

    @Test
    void aServerThatIsDownIsAnError() throws Exception {
        RedisConnectionFactory nowhere = redis.connectToNobody();
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
    void anInterruptEndsAnExchange() throws Exception {
        exchange(1);
        SERVER.ask("CLIENT PAUSE 120000 WRITE");
        try {
            CompletableFuture<Exception> failure = new CompletableFuture<>();
            Thread thread = Thread.startVirtualThread(() -> {
                try {
                    exchange(2);
                } catch (Exception e) {
                    failure.complete(e);
                }
            });
            while (SERVER.ask("INFO clients").contains("blocked_clients:0")) {
                Thread.onSpinWait();
            }

            thread.interrupt();

            assertThat(failure.get())
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("Redis did not answer for cluster '" + redis.cluster() + "': ")
                    .hasMessageNotContaining("null")
                    .hasMessageNotContaining("InterruptedException"); // says nothing to who reads the log
        } finally {
            SERVER.ask("CLIENT UNPAUSE");
        }
        assertThat(exchange(3)).hasSize(1);
    }

    @Test
    void aServerWithoutMemoryIsAnError() throws Exception {
        SERVER.ask("CONFIG SET maxmemory 1");
        try {
            assertThatThrownBy(() -> exchange(1))
                    .hasMessageEndingWith(". Raise its maxmemory, or use a Redis that is not full");
        } finally {
            SERVER.ask("CONFIG SET maxmemory 0");
        }
    }

    @Test
    void aReplicaOfRedisIsAnError() throws Exception {
        SERVER.ask("REPLICAOF 127.0.0.1 " + RedisProcess.freePort());
        try {
            assertThatThrownBy(() -> exchange(1))
                    .hasMessageEndingWith(". Connect to the primary: a replica stores nothing");
        } finally {
            SERVER.ask("REPLICAOF NO ONE");
        }
    }
}
