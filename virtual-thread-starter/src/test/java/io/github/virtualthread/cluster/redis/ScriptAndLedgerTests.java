package io.github.virtualthread.cluster.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Answer.Other;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.LimitLedger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * The script and the ledger have the same rules: the same claims at the same times have the same answers. Time and name of the server
 * are what a test says. Claims are at random, and not only those that a replica would make.
 */
@Tag("slow")
@Timeout(300)
class ScriptAndLedgerTests {

    private static final String LIMIT = "a:{b}, 100 % 'c' \u65e5";
    private static final String KEY = "virtual-thread:{same rules}:" + LIMIT;
    private static final List<String> NAMES =
            List.of("shop-7f8b9-x1", "limit", " member:{a} \"b\" \\ ; --", "Gr\u00f6\u00dfe \u65e5\u672c");
    private static final long LEASE = 10_000;
    private static final long HOUR = 3_600_000;
    private static final int CLAIMS = Integer.getInteger("ledger.claims", 1_000);

    private static LettuceConnectionFactory connections;
    private static StringRedisTemplate redis;

    private final RedisClusterEngine engine = new RedisClusterEngine(connections, "same rules", script());
    private final Map<String, Member> members = new HashMap<>();
    private final Map<String, Integer> seen = new HashMap<>();
    private LimitLedger ledger = new LimitLedger(true);
    private long now = 1_700_000_000_000L;
    private String server = "one";

    /** What a member knows. */
    private static final class Member {
        final long started;
        long number = 1L << 53; // from here on, the numbers of Lua are too coarse
        long last;
        long answeredAt;
        int share;

        Member(long now) {
            started = now;
        }
    }

    private record Backup(String text, Map<Object, Object> hash) {}

    @BeforeAll
    static void connect() {
        connections = TestRedis.lettuce();
        redis = new StringRedisTemplate(connections);
    }

    @AfterAll
    static void disconnect() {
        connections.destroy();
    }

    /** The same script, but for what it asks the server. */
    private static String script() {
        String script = RedisClusterEngine.script();
        String told = replaced(
                script,
                "local now = time[1] * 1000 + math.floor(time[2] / 1000)",
                "local now = tonumber(redis.call('GET', 'test:now'))");
        return replaced(
                told,
                "local server = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)') or ''",
                "local server = redis.call('GET', 'test:server')");
    }

    private static String replaced(String script, String line, String by) {
        assertThat(script).containsOnlyOnce(line);
        return script.replace(line, by);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void haveTheSameAnswers(long seed) {
        Random random = new Random(seed);
        redis.delete(KEY);
        Backup backup = null;
        for (int i = 0; i < CLAIMS; i++) {
            now += time(random);
            int event = random.nextInt(200);
            if (event == 0) {
                server = random.nextInt(4) == 0 ? "" : "server" + i;
            } else if (event == 1) {
                ledger = new LimitLedger(true);
                redis.delete(KEY);
            } else if (event == 2 && backup != null) {
                restore(backup);
            } else if (event < 6 && !ledger.isEmpty()) {
                backup = new Backup(ledger.text(), redis.opsForHash().entries(KEY));
            }
            claim(random, "seed " + seed + ", claim " + i);
        }
        assertThat(seen).as("what has happened").containsKeys("late", "held up", "grows", "kept", "full", "none kept");
    }

    private static long time(Random random) {
        return switch (random.nextInt(40)) {
            case 0 -> -random.nextLong(2 * HOUR);
            case 1 -> random.nextLong(2 * HOUR);
            case 2, 3, 4, 5 -> random.nextLong(2 * LEASE);
            case 6, 7 -> LEASE / 2;
            default -> random.nextLong(LEASE / 5);
        };
    }

    private void restore(Backup backup) {
        ledger = LimitLedger.of(backup.text);
        redis.delete(KEY);
        redis.opsForHash().putAll(KEY, backup.hash);
    }

    private void claim(Random random, String when) {
        String name = NAMES.get(random.nextInt(NAMES.size()));
        Member member = members.computeIfAbsent(name, isNew -> new Member(now));
        Claim claim = claim(random, name, member);
        redis.opsForValue().set("test:now", Long.toString(now));
        redis.opsForValue().set("test:server", server);

        Answer ofScript = engine.exchange(List.of(claim)).getFirst();
        LimitLedger copy = ledger.isEmpty() ? new LimitLedger(true) : LimitLedger.of(ledger.text());
        Answer ofLedger = copy.lend(claim, now, server, Duration.ZERO);

        assertThat(sorted(ofScript)).as(when + ": " + claim).isEqualTo(sorted(ofLedger));
        if (ofLedger.refusal() != null) {
            saw("late");
            return;
        }
        ledger = copy;
        assertThat(redis.hasKey(KEY)).as(when).isEqualTo(!ledger.isEmpty());
        note(claim, ofLedger);
        if (claim.leaves()) {
            members.remove(name);
        } else if (random.nextInt(10) > 0) { // otherwise the answer does not come
            member.last = claim.number();
            member.answeredAt = now;
            member.share = ofLedger.share();
        }
    }

    private Claim claim(Random random, String name, Member member) {
        boolean leaves = random.nextInt(30) == 0;
        boolean isLate = random.nextInt(20) == 0;
        member.number += isLate ? 0 : 1 + random.nextInt(2);
        long error = random.nextInt(5) == 0 ? random.nextLong(2 * LEASE) - LEASE : 0;
        long age = member.last == 0 ? 0 : Math.max(0, now - member.answeredAt + error);
        int holds = random.nextInt(member.share + 1) + (random.nextInt(20) == 0 ? 3 : 0);
        return new Claim(
                LIMIT,
                name,
                leaves && random.nextBoolean() ? Long.MAX_VALUE : member.number,
                leaves ? 0 : member.last,
                Duration.ofMillis(age),
                Duration.ofMillis(Math.max(0, now - member.started)),
                8 + random.nextInt(3),
                random.nextInt(5) == 0 ? random.nextInt(12) : 4,
                holds,
                random.nextInt(10),
                random.nextInt(12),
                Duration.ofMillis(random.nextInt(5_000)),
                leaves ? Duration.ZERO : Duration.ofMillis(random.nextBoolean() ? LEASE : LEASE / 3));
    }

    private void note(Claim claim, Answer answer) {
        if (!answer.noGrowthFor().isZero()) {
            saw("held up");
        }
        if (answer.share() > claim.holds()) {
            saw("grows");
        }
        if (claim.replicas() > 0) {
            saw(answer.kept() > 0 ? "kept" : "none kept");
        }
        if (answer.share() < claim.asks() && answer.noGrowthFor().isZero()) {
            saw("full");
        }
    }

    private void saw(String what) {
        seen.merge(what, 1, Integer::sum);
    }

    private static Answer sorted(Answer answer) {
        List<Other> others = new ArrayList<>(answer.others());
        others.sort(Comparator.comparing(Other::member));
        return new Answer(
                answer.share(),
                answer.permits(),
                answer.kept(),
                answer.keptFor(),
                answer.noGrowthFor(),
                answer.now(),
                others,
                answer.refusal());
    }
}
