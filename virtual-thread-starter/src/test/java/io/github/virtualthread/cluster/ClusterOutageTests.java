package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Replicas lose Redis and come back, each at its own time. */
@Tag("slow")
@EnabledForJreRange(min = JRE.JAVA_25) // once: on Java 21 the rest of the package shows the same code
@EnabledOnOs(OS.LINUX)
class ClusterOutageTests extends ReplicaProcesses {

    private static final int PERMITS = 20;

    @BeforeEach
    void count() {
        resource.reset(PERMITS);
    }

    @AfterEach
    void mend(TestInfo test) throws Exception {
        System.out.println(test.getDisplayName() + " " + resource);
        for (TcpLine line : lines) {
            line.mend();
        }
        end(replicas);
    }

    /** Each reaches Redis for a moment, and then for two leases, while the others do not. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noMoreThanThePermitsRunWhoeverReachesRedisAlone(boolean forLong) throws Exception {
        open("LOCAL_SHARE");
        load(replicas, "partner", CALLERS);
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);
        for (TcpLine line : lines) {
            line.holdUp();
        }
        Replica.tellAll(replicas, "await partner ALONE");
        for (int id = 0; id < 3; id++) {
            lines.get(id).mend();
            replicas.get(id).tell("await partner LENT");
            replicas.get(id).tell("exchanges SUCCESS 5");
            if (forLong) {
                letPass(2 * LEASE);
                replicas.get(id).tell("exchanges SUCCESS 2"); // the second was sent after that
            }
            lines.get(id).holdUp();
            replicas.get(id).tell("await partner ALONE");
        }
        letCallsBegin();
        resource.await("they go on", () -> resource.running('p') > PERMITS / 2);

        assertThat(resource.most('p')).isLessThanOrEqualTo(PERMITS);
    }

    /** It has never reached Redis, and Redis did not know of it. */
    @Test
    void whoReplacesAReplicaThatWasKilledHasItsPartWithoutRedis() throws Exception {
        open("LOCAL_SHARE");
        load(replicas, "partner", CALLERS);
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);
        redis.kill();
        replicas.remove(2).close();
        Replica successor = replica(2);
        successor.answer();
        open(List.of(successor), LEASE, BEAT, limit("LOCAL_SHARE")); // of the same cluster as the others
        replicas.add(successor);
        load(List.of(successor), "partner", CALLERS);

        for (Replica replica : replicas) {
            assertThat(replica.tell("await partner ALONE")).contains(" share=6");
        }
        resource.await("each uses its part", () -> resource.running('p') == 18);
        assertThat(resource.most('p')).isEqualTo(PERMITS);
        redis.start();
    }

    @Test
    void aRedisThatCrashesAgainAndAgainExceedsNothing() throws Exception {
        open("LOCAL_SHARE");
        load(replicas, "partner", CALLERS);
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);
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
        open(onFailure);
        replicas.get(0).tell("load partner 1 " + CALL);
        replicas.get(0).tell("exchanges SUCCESS 3");
        redis.save();
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

    /** It loses Redis for longer than a lease, again and again, as the only one. */
    @Test
    void aReplicaThatComesAndGoesStopsNobodysGrowth() throws Exception {
        open("LOCAL_SHARE");
        load(replicas, "partner", CALLERS);
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);
        long fastest = Long.MAX_VALUE;
        for (int loss = 0; loss < 3; loss++) {
            lines.get(2).holdUp();
            replicas.get(2).tell("await partner ALONE");
            resource.await("the others use all but its local share", () -> running(0, 1) == PERMITS - PERMITS / 3);
            lines.get(2).mend();
            replicas.get(2).tell("await partner LENT");
            long back = System.nanoTime();
            resource.await("its share is fair", () -> running(2, 2) >= PERMITS / 3);
            resource.await("all permits in use", () -> resource.running('p') == PERMITS);
            fastest = Math.min(fastest, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - back));
        }
        System.out.println("back: all permits in use after " + fastest + " ms");
        assertThat(fastest)
                .as("less than a lease, unless the machine is slow at that moment")
                .isLessThan(LEASE);
    }

    private static int running(int first, int last) {
        int running = 0;
        for (int id = first; id <= last; id++) {
            running += resource.running('p', id);
        }
        return running;
    }

    private static void letCallsBegin() throws InterruptedException {
        int begun = resource.begun('p');
        resource.await("calls", () -> resource.begun('p') > begun + 20 * PERMITS);
    }

    private static void letPass(int millis) {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (until - System.nanoTime() > 0) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
    }

    private static void open(String onFailure) throws Exception {
        open(replicas, LEASE, BEAT, limit(onFailure));
    }

    private static String limit(String onFailure) {
        return "partner:%d:%d:%s".formatted(PERMITS, PERMITS, onFailure);
    }
}
