package io.github.virtualthread.cluster.redis;

import io.github.virtualthread.Internal;
import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import io.github.virtualthread.cluster.LimitLedger;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.io.ClassPathResource;
import org.springframework.dao.DataAccessException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * Lends permits by Redis 5 or later, or by a server that speaks its language, with the connection of the application: one script for
 * each exchange, and one hash for each limit. The name of the cluster is the hash tag of all keys, so that one script reaches all
 * limits in a Redis Cluster, too.
 *
 * <p>Says nothing to Redis before the first exchange. A key expires a month after the last claim.
 */
public final class RedisClusterEngine implements ClusterEngine {

    private static final String PREFIX = "virtual-thread:";
    private static final String RIGHTS = "~" + PREFIX + "* +evalsha +eval +time +info +hgetall +hset +hdel +pexpire";

    private final StringRedisTemplate redis;
    private final String cluster;

    /**
     * Each key is the hash of one limit: field {@code limit} with {@code lostAt heldUpAt noGrowthUntil server}, and for each
     * member a field {@code member:<name>} with {@code number holds wants permits since claimed lease confirmed started}. Names
     * are fields of their own, so they may have any characters.
     *
     * <p>The arguments are the name of the member and, for each key, what {@link #exchange} adds, with times in milliseconds. The
     * numbers of claims have 19 digits each, so that they are compared as text: a number of Lua has no room for all digits.
     *
     * <p>Returns for each key {@code ok}, share, permits, kept, keptFor, noGrowthFor, now and, for each other member in the same list,
     * name, holds, wants, permits, since, claimed; or {@code late} and the number of the claim that came first, or
     * {@code error} and why, if the key holds something else. Then nothing is stored of this claim.
     *
     * <p>Reads the time and then writes, so it needs Redis 5 or later.
     */
    @SuppressWarnings("rawtypes") // as Spring Data has it
    private final RedisScript<List> script;

    /**
     * Creates an engine.
     *
     * @param connections to the server; none is opened here
     * @param cluster name that all replicas of the application share, and no other application
     */
    public RedisClusterEngine(RedisConnectionFactory connections, String cluster) {
        this(connections, cluster, script());
    }

    RedisClusterEngine(RedisConnectionFactory connections, String cluster, String script) {
        this.redis = new StringRedisTemplate(connections);
        this.cluster = cluster;
        this.script = RedisScript.of(script, List.class);
    }

    @Override
    @Internal
    public List<Answer> exchange(List<Claim> claims) {
        String member = claims.getFirst().member();
        List<String> keys = new ArrayList<>();
        List<String> arguments = new ArrayList<>(List.of(member));
        for (Claim claim : claims) {
            keys.add(key(claim));
            arguments.add(digits(claim.number()));
            arguments.add(digits(claim.last()));
            arguments.add(Long.toString(claim.age().toMillis()));
            arguments.add(Long.toString(claim.running().toMillis()));
            arguments.add(Integer.toString(claim.permits()));
            arguments.add(Integer.toString(claim.replicas()));
            arguments.add(Integer.toString(claim.holds()));
            arguments.add(Integer.toString(claim.wants()));
            arguments.add(Integer.toString(claim.asks()));
            arguments.add(Long.toString(claim.turn().toMillis()));
            arguments.add(Long.toString(claim.lease().toMillis()));
        }
        Iterator<?> values;
        try {
            values = redis.execute(script, keys, arguments.toArray()).iterator();
        } catch (DataAccessException e) {
            throw refused(e);
        }
        return claims.stream()
                .map(claim -> answer(claim, ((List<?>) values.next()).iterator()))
                .toList();
    }

    private String key(Claim claim) {
        return PREFIX + "{" + cluster + "}:" + claim.limit();
    }

    /** Equally long: compared as text. */
    private static String digits(long number) {
        return String.format(Locale.ROOT, "%019d", number);
    }

    private Answer answer(Claim claim, Iterator<?> values) {
        return switch (values.next().toString()) {
            case "ok" -> lent(values);
            case "late" -> LimitLedger.late(claim, Long.parseLong(values.next().toString()));
            default ->
                Answer.refused("Redis key '" + key(claim) + "' cannot hold limit '" + claim.limit() + "': "
                        + values.next()
                        + ". Delete the key while no replica of another version runs");
        };
    }

    private static Answer lent(Iterator<?> values) {
        int share = number(values);
        int permits = number(values);
        int kept = number(values);
        int keptFor = number(values);
        Duration noGrowthFor = Duration.ofMillis(time(values));
        long now = time(values);
        List<Answer.Other> others = new ArrayList<>();
        while (values.hasNext()) {
            others.add(new Answer.Other(
                    values.next().toString(),
                    number(values),
                    number(values),
                    number(values),
                    time(values),
                    time(values)));
        }
        return new Answer(share, permits, kept, keptFor, noGrowthFor, now, others, null);
    }

    private static int number(Iterator<?> values) {
        return Math.toIntExact(time(values));
    }

    private static long time(Iterator<?> values) {
        return (Long) values.next();
    }

    private IllegalStateException refused(DataAccessException e) {
        Throwable cause = NestedExceptionUtils.getMostSpecificCause(e);
        String said = cause.toString();
        if (cause.getMessage() != null) {
            said = cause.getMessage().replaceFirst("\\.$", "");
        }
        if (cause instanceof InterruptedException) {
            said = "no answer within the lease"; // that is when exchanges are interrupted
        }
        return new IllegalStateException(
                "Redis did not answer for cluster '" + cluster + "': " + said + ". " + remedy(said), e);
    }

    private static String remedy(String said) {
        if (said.contains("NOPERM") || said.contains("user executing the script can't")) {
            return "Allow its user these keys and commands: " + RIGHTS;
        }
        if (said.contains("READONLY")) {
            return "Connect to the primary: a replica stores nothing";
        }
        if (said.contains("OOM")) {
            return "Raise its maxmemory, or use a Redis that is not full";
        }
        return "Check that it runs, and its address, user and password in spring.data.redis";
    }

    static String script() {
        try {
            return new ClassPathResource("claim.lua", RedisClusterEngine.class)
                    .getContentAsString(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "claim.lua is missing beside " + RedisClusterEngine.class.getName()
                            + ": a native image needs a hint for this resource",
                    e);
        }
    }
}
