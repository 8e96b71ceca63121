package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Other servers take over, without the last writes of those before. */
@Tag("slow")
@EnabledForJreRange(min = JRE.JAVA_25) // once: on Java 21 the rest of the package shows the same code
@EnabledOnOs(OS.LINUX)
class ClusterFailoverTests extends ReplicaProcesses {

    private static final String PARTNER = "partner:20:20:LOCAL_SHARE";
    private static final String MAIL = "mail:20:20:WAIT";

    @Test
    void aStandbyThatSentinelPromotesExceedsNothing() throws Exception {
        try (RedisProcess standby = new RedisProcess("--replicaof 127.0.0.1 " + redis.port());
                RedisProcess sentinel = new RedisProcess(
                        "--sentinel monitor main 127.0.0.1 " + redis.port() + " 1",
                        "--sentinel down-after-milliseconds main 1000",
                        "--sentinel failover-timeout main 3000")) {
            standby.await("INFO replication", "master_link_status:up");
            sentinel.await("INFO sentinel", "slaves=1");
            open("sentinel:" + sentinel.port(), 3, PARTNER);
            loseWhatIsLentFromNowOn(() -> {
                standby.pause();
                redis.ask("CLIENT KILL TYPE slave"); // nothing more is on its way
            });

            redis.kill();
            standby.goOn();
            standby.await("INFO replication", "role:master");

            goOnWithoutMoreThanThePermits();
            end(replicas);
        } finally {
            redis.start();
        }
    }

    /** Three masters, and a standby of the one that has the limits. */
    @Test
    void slotsThatMoveAndAMasterThatIsKilledExceedNothing() throws Exception {
        List<RedisProcess> nodes = new ArrayList<>();
        try {
            for (int i = 0; i < 4; i++) {
                nodes.add(new RedisProcess("--cluster-enabled yes", "--cluster-node-timeout 2000"));
                nodes.get(i).ask("CLUSTER SET-CONFIG-EPOCH " + (i + 1));
            }
            for (int i = 0; i < 3; i++) {
                nodes.get(3).ask("CLUSTER MEET 127.0.0.1 " + nodes.get(i).port());
                nodes.get(i).ask("CLUSTER ADDSLOTS " + slots(i * 5_462, Math.min(16_384, (i + 1) * 5_462)));
            }
            for (RedisProcess node : nodes) {
                node.await("CLUSTER INFO", "cluster_known_nodes:4");
                node.await("CLUSTER INFO", "cluster_state:ok");
            }
            open("cluster:" + nodes.get(0).port(), 3, PARTNER, MAIL);
            List<String> keys = List.of(key("partner"), key("mail"));
            int slot = Integer.parseInt(
                    nodes.get(0).ask("CLUSTER KEYSLOT " + keys.get(0)).substring(1));
            RedisProcess owner = nodes.get(slot / 5_462);
            RedisProcess standby = nodes.get(3);
            standby.ask("CLUSTER REPLICATE " + id(owner));
            standby.await("INFO replication", "master_link_status:up");
            load(replicas, "partner", CALLERS);
            resource.await("all permits in use", () -> resource.running('p') == PERMITS);
            RedisProcess other = nodes.get((slot / 5_462 + 1) % 3);
            move(slot, keys, owner, other);
            move(slot, keys, other, owner);
            resource.await("all permits in use", () -> resource.running('p') == PERMITS);

            owner.kill();
            standby.await("INFO replication", "role:master");

            goOnWithoutMoreThanThePermits();
            end(replicas);
        } finally {
            nodes.forEach(RedisProcess::close);
        }
    }

    private static void move(int slot, List<String> keys, RedisProcess from, RedisProcess to) throws Exception {
        to.ask("CLUSTER SETSLOT " + slot + " IMPORTING " + id(from));
        from.ask("CLUSTER SETSLOT " + slot + " MIGRATING " + id(to));
        for (String key : keys) {
            letPass(BEAT * 3); // claims while one key is here and one there
            from.ask("MIGRATE 127.0.0.1 " + to.port() + " " + key + " 0 5000");
        }
        to.ask("CLUSTER SETSLOT " + slot + " NODE " + id(to));
        from.ask("CLUSTER SETSLOT " + slot + " NODE " + id(to));
        Replica.tellAll(replicas, "exchanges SUCCESS 5");
    }

    private static String slots(int from, int to) {
        return IntStream.range(from, to).mapToObj(Integer::toString).collect(Collectors.joining(" "));
    }

    private static String id(RedisProcess node) throws IOException {
        return node.ask("CLUSTER MYID");
    }

    private static String key(String limit) {
        return "virtual-thread:{" + cluster + "}:" + limit;
    }

    /** The first one is killed twice, and comes back with all that it had committed. */
    @Test
    void aPostgresThatIsKilledAndItsStandbyExceedNothing(@TempDir Path folder) throws Exception {
        Path data = folder.resolve("first");
        postgres(data).start().close();
        Path copy = folder.resolve("standby");
        new ProcessBuilder("cp", "-a", "" + data, "" + copy).start().waitFor();
        Files.createFile(copy.resolve("standby.signal"));
        EmbeddedPostgres first = postgres(data).start();
        TcpLine link = new TcpLine(first.getPort());
        Files.writeString(
                copy.resolve("postgresql.auto.conf"),
                "primary_conninfo = 'host=127.0.0.1 user=postgres port=" + link.port() + "'\n");
        EmbeddedPostgres standby = postgres(copy).start();
        try (link) {
            lead(first);
            open("jdbc:postgresql://127.0.0.1:%d/postgres?user=postgres", 3, PARTNER);
            loseWhatIsLentFromNowOn(link::cut);
            for (int kill = 0; kill < 2; kill++) {
                kill(data);
                first.close();
                first = postgres(data).start();
                lead(first);
                goOnWithoutMoreThanThePermits();
            }

            kill(data);
            try (Connection connection = standby.getPostgresDatabase().getConnection()) {
                connection.createStatement().execute("select pg_promote()");
            }
            lead(standby);

            goOnWithoutMoreThanThePermits();
            end(replicas);
        } finally {
            first.close();
            standby.close();
        }
    }

    private static EmbeddedPostgres.Builder postgres(Path data) {
        return EmbeddedPostgres.builder()
                .setPGStartupWait(Duration.ofMinutes(5))
                .setDataDirectory(data)
                .setCleanDataDirectory(false);
    }

    private static void lead(EmbeddedPostgres server) {
        lines.forEach(line -> line.lead(server.getPort()));
    }

    private static void kill(Path data) throws Exception {
        String pid = Files.readAllLines(data.resolve("postmaster.pid")).getFirst();
        ProcessHandle server = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
        List<ProcessHandle> all =
                Stream.concat(Stream.of(server), server.descendants()).toList();
        all.forEach(ProcessHandle::destroyForcibly);
        for (ProcessHandle each : all) {
            each.onExit().get();
        }
    }

    /** Almost nothing is lent before, and all when it returns, for longer than a lease. */
    private static void loseWhatIsLentFromNowOn(Event event) throws Exception {
        replicas.get(0).tell("load partner 1 " + CALL);
        replicas.get(0).tell("exchanges SUCCESS 3");
        event.happens();
        load(replicas, "partner", CALLERS);
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);
        letPass(LEASE * 11 / 10);
    }

    private static void goOnWithoutMoreThanThePermits() throws Exception {
        Replica.tellAll(replicas, "exchanges SUCCESS 5");
        Replica.tellAll(replicas, "await partner LENT");
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);
        assertThat(resource.most('p')).isEqualTo(PERMITS);
    }
}
