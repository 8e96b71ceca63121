package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicas lose Redis and come back, each at its own time; and Redis loses its data. */
@Tag("slow")
@EnabledForJreRange(min = JRE.JAVA_25) // once: on Java 21 the rest of the package shows the same code
@EnabledOnOs(OS.LINUX)
class ClusterOutageTests extends ReplicaProcesses {

    private static final int PART = 6;

    @AfterEach
    void mend() throws Exception {
        resource.release();
        for (Replica replica : replicas) {
            replica.goOn();
        }
        for (TcpLine line : lines) {
            line.mend();
        }
        end(replicas);
    }

    /** Each word says who reaches Redis meanwhile: for a moment, or for two leases. */
    @ParameterizedTest
    @CsvSource({"- 0 - 1 - 2 -, false", "- 0 - 1 - 2 -, true", "- 0 01 12, true"})
    void noMoreThanThePermitsRunWhoeverReachesRedis(String order, boolean forLong) throws Exception {
        begin("LOCAL_SHARE");
        for (String some : order.split(" ")) {
            List<Replica> reaching = replicas.stream()
                    .filter(replica -> some.contains("" + replica.id()))
                    .toList();
            List<Replica> others = replicas.stream()
                    .filter(replica -> !reaching.contains(replica))
                    .toList();
            for (Replica other : others) {
                lines.get(other.id()).holdUp();
            }
            for (Replica replica : reaching) {
                lines.get(replica.id()).mend();
            }
            Replica.tellAll(reaching, "await partner LENT");
            Replica.tellAll(reaching, "exchanges SUCCESS 5");
            if (forLong && !reaching.isEmpty()) {
                letPass(2 * LEASE);
                Replica.tellAll(reaching, "exchanges SUCCESS 2"); // the second was sent after that
            }
            Replica.tellAll(others, "await partner ALONE");
        }
        letCallsBegin();
        resource.await("they go on", () -> resource.running('p') > PERMITS / 2);

        assertThat(resource.most('p')).isLessThanOrEqualTo(PERMITS);
    }

    /** Also if it has never reached Redis, and Redis did not know of it. */
    @ParameterizedTest
    @CsvSource({"6, 1, true, 6", "20, 3, true, 6", "20, 3, false, 6"})
    void whoReplacesAReplicaThatWasKilledHasItsPartWithoutRedis(int permits, int count, boolean hasReached, int part)
            throws Exception {
        begin("lettuce:%d", count, permits, "LOCAL_SHARE");
        if (!hasReached) {
            redis.kill();
        }
        Replica successor = replace(count - 1);
        load(List.of(successor), "partner", CALLERS);
        if (hasReached) {
            successor.tell("await partner LENT");
            resource.await("it has permits", () -> resource.running('p', successor.id()) >= part);
            redis.kill();
        }

        for (String state : Replica.tellAll(replicas.subList(0, count), "await partner ALONE")) {
            assertThat(state).isEqualTo("share=" + part);
        }
        resource.await("each uses its part", () -> resource.running('p') == count * part);
        assertThat(resource.most('p')).isEqualTo(permits);
        redis.start();
    }

    @Test
    void aReplicaThatIsKilledWhileAnotherOneIsAloneLeavesNobodyMore() throws Exception {
        begin("LOCAL_SHARE");
        lines.get(2).holdUp();
        replicas.get(2).tell("await partner ALONE");
        Replica successor = replace(1);
        load(List.of(successor), "partner", CALLERS);
        letPass(2 * LEASE);
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);

        assertThat(resource.running('p', 2)).isEqualTo(PART);
        assertThat(resource.most('p')).isEqualTo(PERMITS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"lettuce:%d", "jedis:%d"})
    void aRedisThatCrashesAgainAndAgainExceedsNothing(String client) throws Exception {
        begin(client, 3, PERMITS, "LOCAL_SHARE");
        for (int crash = 0; crash < 3; crash++) {
            redis.kill();
            letPass(2 * LEASE);
            redis.start();
            letPass(LEASE);
        }
        Replica.tellAll(replicas, "await partner LENT"); // Lettuce may wait half a minute before it connects
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);

        assertThat(resource.most('p')).isEqualTo(PERMITS);
    }

    /** As with Redis' default settings after a crash: the data are older than a lease, and two clients connect later. */
    @ParameterizedTest
    @CsvSource({"WAIT, false", "WAIT, true", "LOCAL_SHARE, true"})
    void aSnapshotThatIsOlderThanWhatWasLentExceedsNothing(String onFailure, boolean late) throws Exception {
        open(limit(PERMITS, onFailure));
        replicas.get(0).tell("load partner 1 " + CALL);
        replicas.get(0).tell("exchanges SUCCESS 3");
        redis.ask("SAVE"); // from now on it starts with these data
        load(replicas, "partner", CALLERS);
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);
        letPass(LEASE * 11 / 10);
        if (late) {
            lines.get(1).cut();
            lines.get(2).cut();
        }
        redis.kill();
        redis.start();
        replicas.get(0).tell("exchanges SUCCESS 5");
        if (late) {
            lines.get(1).mend();
            lines.get(2).mend();
        }
        Replica.tellAll(replicas, "await partner LENT");
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);

        assertThat(resource.most('p')).isEqualTo(PERMITS);
    }

    /** Every two seconds, by a command or because it evicts keys. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRedisThatLosesItsDataAgainAndAgainExceedsNothing(boolean evicts) throws Exception {
        int times = 8;
        begin("LOCAL_SHARE");
        redis.ask("CONFIG RESETSTAT");
        redis.ask("CONFIG SET maxmemory-policy allkeys-random");
        int before = resource.begun('p');
        long begin = System.nanoTime();
        for (int i = 0; i < times; i++) {
            redis.ask(evicts ? "CONFIG SET maxmemory 1" : "FLUSHALL");
            redis.ask("CONFIG SET maxmemory 0");
            letPass(2_000);
        }
        double millis = (System.nanoTime() - begin) / 1e6;
        System.out.printf("%.0f %% of the calls%n", 100 * (resource.begun('p') - before) * CALL / (PERMITS * millis));

        assertThat(redis.ask("INFO stats").contains("evicted_keys:0\r")).isEqualTo(!evicts);
        assertThat(resource.most('p')).isEqualTo(PERMITS);
    }

    /** Replica 0 stays with the primary that the others have left; that one may take no writes without a replica. */
    @ParameterizedTest
    @CsvSource({"LOCAL_SHARE, 0, 22", "WAIT, 0, 40", "WAIT, 1, 20"})
    void twoPrimariesOfRedisLendWhatThePageSays(String onFailure, int minReplicas, int most) throws Exception {
        try (RedisProcess second = new RedisProcess("--replicaof 127.0.0.1 " + redis.port())) {
            second.await("INFO replication", "master_link_status:up");
            redis.ask("CONFIG SET min-replicas-max-lag 2");
            redis.ask("CONFIG SET min-replicas-to-write " + minReplicas);
            begin(onFailure);
            second.ask("REPLICAOF NO ONE");
            lines.get(1).lead(second.port());
            lines.get(2).lead(second.port());
            letPass(4 * LEASE);
            resource.await("all that both lend", () -> resource.running('p') == most);

            assertThat(resource.most('p')).isEqualTo(most);
            end(replicas.subList(1, 3));
        } finally {
            redis.ask("CONFIG SET min-replicas-to-write 0");
            for (TcpLine line : lines) {
                line.lead(redis.port());
            }
        }
    }

    /** Because there are more replicas than permits, or because nobody says how many there are. */
    @ParameterizedTest
    @CsvSource({"1, 3", "20, 0"})
    void callsWaitForRedisWithoutALocalShare(int permits, int count) throws Exception {
        begin("lettuce:%d", count, permits, "LOCAL_SHARE");
        resource.await("each has its turn", () -> replicas.stream().allMatch(r -> resource.begun('p', r.id()) > 0));
        for (TcpLine line : lines) {
            line.holdUp();
        }
        Replica.tellAll(replicas, "await partner LOST");
        resource.await("nothing runs", () -> resource.running('p') == 0);
        int begun = resource.begun('p');
        letPass(3 * LEASE);

        assertThat(resource.begun('p')).isEqualTo(begun);
        assertThat(resource.most('p')).isEqualTo(permits);
    }

    /** Of 21 permits each has 7, so none goes round. */
    @Test
    void aReplicaThatIsPausedExceedsThePermitsByTheCallsThatItHadBegun() throws Exception {
        begin("lettuce:%d", 3, 21, "WAIT");
        resource.await("equal parts", () -> replicas.stream().allMatch(r -> resource.running('p', r.id()) == 7));
        resource.hold(2); // its calls do not end
        resource.await("its calls are held", () -> resource.running('p', 2) == 7);
        replicas.get(2).pause();
        resource.await("all permits in use by the others", () -> resource.running('p') == 21 + 7);
        int begun = resource.begun('p', 2);

        replicas.get(2).goOn();
        letPass(LEASE); // the others give way
        assertThat(resource.running('p')).isLessThanOrEqualTo(21);
        assertThat(resource.begun('p', 2)).isEqualTo(begun);
        assertThat(resource.most('p')).isEqualTo(21 + 7);
        resource.resetMost();
        resource.release();
        resource.await("it begins calls again", () -> resource.begun('p', 2) > begun + CALLERS);

        assertThat(resource.most('p')).isEqualTo(21);
    }

    @Test
    void aStartWaitsForALeaseOnlyIfAllReplicasHadDied() throws Exception {
        List<Replica> first = replicas.subList(0, 1);
        begin("lettuce:%d", 1, PERMITS, "LOCAL_SHARE");
        first.getFirst().tell("end");
        long afterStop = millisToACall(() -> join(first));
        long afterKill = millisToACall(() -> replace(0));
        letPass(2 * LEASE); // so long the engine remembers the dead one
        first.getFirst().tell("end");
        long afterNextStop = millisToACall(() -> join(first));

        System.out.printf("first call after %d ms, killed %d ms, stopped %d ms%n", afterStop, afterKill, afterNextStop);
        assertThat(afterStop).isLessThan(LEASE / 2);
        assertThat(afterKill).isLessThan(2 * LEASE);
        assertThat(afterNextStop).isLessThan(LEASE / 2);
    }

    private static long millisToACall(Event start) throws Exception {
        int begun = resource.begun('p');
        start.happens();
        long begin = System.nanoTime();
        load(replicas.subList(0, 1), "partner", 1);
        resource.await("a call", () -> resource.begun('p') > begun);
        return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin);
    }

    @Test
    void theNumberOfPermitsChangesWhileCallsRun() throws Exception {
        open("partner:40:20:LOCAL_SHARE");
        load(replicas, "partner", CALLERS);
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);
        assertThat(resource.most('p')).isEqualTo(PERMITS);

        replicas.get(0).tell("permits partner 5");
        letPass(LEASE);
        resource.resetMost();
        letCallsBegin();
        assertThat(resource.most('p')).isEqualTo(5);

        Replica.tellAll(replicas, "permits partner 40");
        resource.await("all permits in use", () -> resource.running('p') == 40);
        letCallsBegin();
        assertThat(resource.most('p')).isEqualTo(40);
    }

    private static void letCallsBegin() throws InterruptedException {
        int begun = resource.begun('p');
        resource.await("calls", () -> resource.begun('p') > begun + 20 * PERMITS);
    }

    private static void begin(String onFailure) throws Exception {
        begin("lettuce:%d", 3, PERMITS, onFailure);
    }

    /** All permits are in use. */
    private static void begin(String server, int count, int permits, String onFailure) throws Exception {
        open(server, count, limit(permits, onFailure));
        load(replicas.subList(0, count == 0 ? 3 : count), "partner", CALLERS);
        resource.await("all permits in use", () -> resource.running('p') == permits);
    }

    private static String limit(int permits, String onFailure) {
        return "partner:%d:%d:%s".formatted(permits, permits, onFailure);
    }
}
