package io.github.virtualthread.cluster.redis;

import static io.github.virtualthread.cluster.TestClaims.LONG;
import static io.github.virtualthread.cluster.redis.TestRedis.SERVER;
import static io.github.virtualthread.cluster.redis.TestRedis.claim;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Redis by Lettuce, and its keys. {@code ScriptAndLedgerTests} shows that the script has all rules. */
@Tag("slow")
class RedisClusterEngineTests extends RedisClientContract {

    RedisClusterEngineTests() {
        super(TestRedis::lettuce);
    }

    @Test
    void oneCommandServesAllLimitsOfAnExchangeByTheClockOfTheServer() throws Exception {
        List<Claim> claims = List.of(claim("mail", 1, LONG), claim("partner", 1, LONG), claim("fax", 1, LONG));
        SERVER.ask("CONFIG RESETSTAT");

        List<Answer> answers = redis.engine().exchange(claims);

        assertThat(answers).hasSize(3).allSatisfy(answer -> assertThat(Instant.ofEpochMilli(answer.now()))
                .isCloseTo(Instant.now(), within(1, ChronoUnit.MINUTES)));
        assertThat(SERVER.calls("eval")).isEqualTo(1);
    }

    @Test
    void allLimitsOfAClusterAreInOneSlot() {
        redis.engine().exchange(List.of(claim("mail", 1, LONG), claim("partner", 1, LONG)));

        assertThat(redis.template().hasKey(redis.key("mail"))).isTrue();
        assertThat(redis.template().hasKey(redis.key("partner"))).isTrue();
    }

    @Test
    void aKeyExpiresAMonthAfterTheLastClaim() {
        redis.engine().exchange(List.of(claim("partner", 1, Duration.ofSeconds(10))));
        assertThat(daysToLive()).isEqualTo(30);
        redis.template().expire(redis.key("partner"), Duration.ofSeconds(100));

        redis.engine().exchange(List.of(claim("partner", 2, Duration.ZERO)));
        assertThat(daysToLive()).as("also if that was a goodbye").isEqualTo(30);
    }

    @Test
    void aKeyExpiresAfterTheLongestLease() {
        redis.engine().exchange(List.of(claim("partner", 1, Duration.ofDays(40))));
        assertThat(daysToLive()).isEqualTo(40);

        redis.engine().exchange(List.of(claim("b", "partner", 1, Duration.ofSeconds(10))));
        assertThat(daysToLive()).as("another member has a long lease").isEqualTo(40);
    }

    @Test
    void aMemberThatLeavesLeavesNothingBehind() {
        redis.engine().exchange(List.of(claim("new", 1, Duration.ZERO)));
        assertThat(redis.template().hasKey(redis.key("new"))).isFalse();
        redis.engine().exchange(List.of(claim("partner", 1, LONG)));
        redis.engine().exchange(List.of(claim("partner", 2, Duration.ZERO)));

        assertThat(redis.template().opsForHash().keys(redis.key("partner"))).containsExactly("limit");
    }

    @Test
    void membersThatAreForgottenLeaveNothingBehind() {
        redis.engine().exchange(List.of(claim("b", "partner", 1, LONG)));
        redis.template()
                .opsForHash()
                .put(redis.key("partner"), "member:b", "0000000000000000001 0 0 10 4 1000 1000 10000 0");

        redis.engine().exchange(List.of(claim("partner", 1, LONG)));

        assertThat(redis.template().opsForHash().keys(redis.key("partner")))
                .containsExactlyInAnyOrder("limit", "member:a");
    }

    @Test
    void aKeyOfAnotherTypeRefusesItsOwnClaimOnly() {
        redis.template().opsForValue().set(redis.key("partner"), "something else");

        List<Answer> answers = redis.engine()
                .exchange(List.of(claim("mail", 1, LONG), claim("partner", 1, LONG), claim("fax", 1, LONG)));

        assertThat(answers).extracting(Answer::share).containsExactly(4, 0, 4);
        assertThat(answers.get(1).refusal())
                .isEqualTo("Redis key '" + redis.key("partner")
                        + "' cannot hold limit 'partner': WRONGTYPE Operation against a key holding"
                        + " the wrong kind of value. Delete the key while no replica of another version runs");
        assertThat(redis.template().opsForValue().get(redis.key("partner"))).isEqualTo("something else");
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
        redis.template().delete(redis.key("partner"));
        redis.template().opsForHash().put(redis.key("partner"), field, value);

        List<Answer> answers = redis.engine().exchange(List.of(claim("partner", 1, LONG), claim("mail", 1, LONG)));

        assertThat(answers.get(0).refusal())
                .isEqualTo("Redis key '" + redis.key("partner") + "' cannot hold limit 'partner': its field " + field
                        + " was not written by this version of the starter. Delete the key while no replica of another"
                        + " version runs");
        assertThat(answers.get(1).share()).isEqualTo(4);
        assertThat(redis.template().opsForHash().entries(redis.key("partner"))).containsOnly(Map.entry(field, value));
    }

    private long daysToLive() {
        return Math.round(redis.template().getExpire(redis.key("partner"), TimeUnit.SECONDS) / 86_400.0);
    }
}
