package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What it costs that three replicas have one limit, against a limit for each with a third of the permits. By turns. */
@Tag("benchmark")
@EnabledOnOs(OS.LINUX)
class ClusterFiguresTests {

    private static final int ROUNDS = Integer.getInteger("cluster.rounds", 3);
    private static final int PERMITS = 21;
    private static final int CALL = 50; // milliseconds
    private static final int CALLERS = 100; // of each replica
    private static final int RATE = 40; // calls a second of each replica, so that 6 of 21 permits are in use
    private static final String HEAD = "%-6s %-6s %-8s %8s %5s %10s %22s %22s %8s%n";

    private enum Way {
        LOCAL("partner:7:0"),
        SHARED("partner:21:21:LOCAL_SHARE");

        final String limit;

        Way(String limit) {
            this.limit = limit;
        }
    }

    private final List<Replica> replicas = new ArrayList<>();

    @Test
    void callsOfThreeReplicas() throws Exception {
        List<Double> parts = new ArrayList<>();
        try (RedisProcess redis = new RedisProcess();
                Resource resource = new Resource()) {
            for (int id = 0; id < 3; id++) {
                replicas.add(new Replica(id, resource.port()));
            }
            for (Replica replica : replicas) {
                replica.answer();
            }
            System.out.printf(
                    HEAD,
                    "round",
                    "limit",
                    "load",
                    "calls/s",
                    "most",
                    "scripts/c",
                    "wait p50, ms",
                    "wait p99, ms",
                    "cpu ms");
            for (int round = 0; round <= ROUNDS; round++) {
                double local = measure(round, Way.LOCAL, true, redis, resource);
                double shared = measure(round, Way.SHARED, true, redis, resource);
                measure(round, Way.LOCAL, false, redis, resource);
                measure(round, Way.SHARED, false, redis, resource);
                System.out.printf("round %d: %.1f %% of the calls under local limits%n", round, 100 * shared / local);
                if (round > 0) {
                    parts.add(shared / local);
                }
            }
        } finally {
            replicas.forEach(Replica::close);
        }
        parts.sort(null);
        assertThat(parts.get(parts.size() / 2))
                .as("calls/s under one limit, as a part of those under three")
                .isGreaterThan(0.95);
    }

    /** Returns calls a second. */
    private double measure(int round, Way way, boolean full, RedisProcess redis, Resource resource) throws Exception {
        resource.reset();
        Replica.tellAll(
                replicas,
                "open lettuce:%d %s-%d-%s 10000 100 3 %s".formatted(redis.port(), way, round, full, way.limit));
        long cpu = cpu();
        Replica.tellAll(replicas, (full ? "load partner " + CALLERS : "rate partner " + RATE) + " " + CALL);
        resource.await("warm", () -> resource.begun('p') > (full ? 600 : 120));
        Replica.tellAll(replicas, "measure");
        redis.ask("CONFIG RESETSTAT");
        int calls = full ? 3_000 : 720;
        int before = resource.begun('p');
        long begin = System.nanoTime();
        resource.await("calls", () -> resource.begun('p') - before >= calls);
        double seconds = (System.nanoTime() - begin) / 1e9;
        double scripts = redis.scripts() / (double) calls;
        List<String> ends = Replica.tellAll(replicas, "end");
        System.out.printf(
                HEAD,
                round == 0 ? "warm" : "" + round,
                way.name().toLowerCase(Locale.ROOT),
                full ? "full" : "30 %",
                "%.1f".formatted(calls / seconds),
                resource.most('p'),
                "%.3f".formatted(scripts),
                millis(ends, "p50"),
                millis(ends, "p99"),
                cpu() - cpu);
        assertThat(ends).allMatch(end -> end.startsWith("open=0 "));
        assertThat(resource.most('p')).isLessThanOrEqualTo(PERMITS);
        return calls / seconds;
    }

    private static String millis(List<String> ends, String figure) {
        List<String> millis = ends.stream()
                .map(end -> "%.1f".formatted(Replica.figure(end, figure) / 1_000.0))
                .toList();
        return String.join(" ", millis);
    }

    private long cpu() {
        return replicas.stream().mapToLong(Replica::cpu).sum();
    }
}
