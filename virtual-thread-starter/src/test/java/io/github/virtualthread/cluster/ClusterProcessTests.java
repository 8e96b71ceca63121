package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Replicas share permits by Redis, while processes are paused and killed. */
@Tag("slow")
@EnabledOnOs(OS.LINUX)
class ClusterProcessTests extends ReplicaProcesses {

    private static final int PERMITS = 21; // 7 for each, so that no permit goes round
    private static final int PART = PERMITS / 3;

    @AfterEach
    void goOn() throws Exception {
        resource.release();
        redis.goOn();
        for (Replica replica : replicas) {
            replica.goOn();
        }
    }

    @Test
    void loadOnAllIsServedEvenlyAndNeverAboveThePermits() throws Exception {
        int permits = 20;
        open("partner:20:20:LOCAL_SHARE");
        load(replicas, "partner", 100);
        resource.await(
                "a permit for each replica", () -> replicas.stream().allMatch(r -> resource.begun('p', r.id()) > 0));
        resource.await("all permits in use", () -> resource.running('p') == permits);
        redis.ask("CONFIG RESETSTAT");
        int before = resource.begun('p');
        long begin = System.nanoTime();
        resource.await("calls of some seconds", () -> resource.begun('p') - before >= 2_400);
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        long scripts = redis.scripts();
        end(replicas);

        double seconds = took.toMillis() / 1_000.0;
        System.out.printf("%.0f calls/s, %.3f scripts for each call%n", 2_400 / seconds, scripts / 2_400.0);
        assertThat(resource.most('p')).isEqualTo(permits);
        assertThat(scripts / seconds)
                .as("scripts a second: 0.1 for each of 400 calls")
                .isLessThanOrEqualTo(40);
        for (Replica replica : replicas) {
            assertThat(resource.begun('p', replica.id()) * 4)
                    .as("calls of replica " + replica.id() + ", at least a quarter")
                    .isGreaterThan(resource.begun('p'));
        }
    }

    /** Where replicas may be alone, a local share is kept for it. */
    @ParameterizedTest
    @CsvSource({"WAIT, 21", "LOCAL_SHARE, 14"})
    void theShareOfAReplicaThatIsKilledIsUsedByTheOthersWhenItsLeaseIsOver(String onFailure, int used)
            throws Exception {
        open("partner:21:21:" + onFailure);
        load(replicas, "partner", CALLERS);
        awaitParts('p');
        Replica killed = replicas.remove(2);
        killed.close();
        long begin = System.nanoTime();
        resource.await("they are in use by the others", () -> others('p', killed) == used);
        Duration took = Duration.ofNanos(System.nanoTime() - begin);
        end(replicas);
        replicas.add(replica(2));
        replicas.get(2).answer();

        System.out.println("killed: used by others after " + took.toMillis() + " ms");
        assertThat(resource.most('p')).isEqualTo(PERMITS);
        // a lease and two beats; and the time of two calls, on a machine that is slow at that moment
        assertThat(took).isLessThan(Duration.ofMillis(2 * (LEASE + 2 * BEAT + 2 * CALL)));
    }

    @Test
    void aReplicaThatStoodStillLongerThanItsLeaseBeginsNothingBeforeItHasAsked() throws Exception {
        Replica paused = pauseWithCallsAtTheResource();
        resource.release(); // they end while it stands still, and others wait for their permits in it
        resource.await("they have ended", () -> resource.running('p', paused.id()) == 0);
        resource.await("all permits in use by the others", () -> others('p', paused) == PERMITS);
        int begun = resource.begun('p', paused.id());
        assertThat(resource.most('p')).isEqualTo(PERMITS);

        paused.goOn();
        resource.await("it begins calls again", () -> resource.begun('p', paused.id()) > begun + CALLERS);
        end(replicas);
        assertThat(resource.most('p')).isEqualTo(PERMITS);
    }

    @Test
    void aReplicaThatStoodStillLongerThanItsLeaseExceedsThePermitsByTheCallsThatItHadBegun() throws Exception {
        Replica paused = pauseWithCallsAtTheResource();
        int held = resource.running('p', paused.id());
        resource.await("all permits in use by the others", () -> others('p', paused) == PERMITS);
        int begun = resource.begun('p', paused.id());

        paused.goOn();
        for (Replica other : replicas.subList(0, 2)) {
            other.tell("lent partner 2 " + 2 * PART);
            int before = resource.begun('p', other.id());
            // before more calls begin than it had permits, all that began under its larger share have ended
            resource.await("calls under that share", () -> resource.begun('p', other.id()) > before + PERMITS);
        }
        resource.await("all permits in use", () -> resource.running('p') == PERMITS);
        assertThat(resource.begun('p', paused.id())).isEqualTo(begun);
        assertThat(resource.most('p')).isEqualTo(PERMITS + held);
        resource.resetMost();
        resource.release();
        resource.await("it begins calls again", () -> resource.begun('p', paused.id()) > begun + CALLERS);
        end(replicas);
        assertThat(resource.most('p')).isEqualTo(PERMITS);
    }

    /** All its permits are in use by calls that do not end before {@link Resource#release()}. */
    private Replica pauseWithCallsAtTheResource() throws Exception {
        Replica paused = replicas.get(2);
        open("partner:21:21:WAIT");
        load(replicas, "partner", CALLERS);
        awaitParts('p');
        resource.hold(paused.id());
        resource.await("its calls are held", () -> resource.running('p', paused.id()) == PART);
        paused.pause();
        return paused;
    }

    @Test
    void eachLimitGoesOnAsItShouldWhileRedisStandsStill() throws Exception {
        open("local:21:21:LOCAL_SHARE", "wait:21:21:WAIT", "reject:21:21:REJECT");
        for (String limit : List.of("local", "wait", "reject")) {
            load(replicas, limit, CALLERS / 2);
        }
        for (char limit : "lwr".toCharArray()) {
            awaitParts(limit);
        }
        redis.pause();
        for (Replica replica : replicas) {
            assertThat(replica.tell("await local ALONE")).contains(" share=" + PART);
            assertThat(replica.tell("await wait LOST")).contains(" share=0");
            assertThat(replica.tell("await reject LOST")).contains(" share=0");
            replica.tell("refused reject");
        }
        resource.await("nothing runs without a lease", () -> resource.running('w') + resource.running('r') == 0);
        int without = resource.begun('w') + resource.begun('r');
        int local = resource.begun('l');
        resource.await("calls go on alone", () -> resource.begun('l') > local + 10 * PERMITS);
        assertThat(resource.begun('w') + resource.begun('r')).isEqualTo(without);

        redis.goOn();
        for (Replica replica : replicas) {
            for (String limit : List.of("local", "wait", "reject")) {
                assertThat(replica.tell("await " + limit + " LENT")).contains("LENT");
            }
        }
        for (char limit : "lwr".toCharArray()) {
            resource.await("all permits in use again", () -> resource.running(limit) == PERMITS);
        }
        List<String> ends = end(replicas);
        for (char limit : "lwr".toCharArray()) {
            assertThat(resource.most(limit)).isEqualTo(PERMITS);
        }
        assertThat(ends).allMatch(end -> end.contains("{NO_LEASE="));
    }

    private static void awaitParts(char limit) throws InterruptedException {
        resource.await("an equal part for each", () -> replicas.stream()
                .allMatch(replica -> resource.running(limit, replica.id()) == PART));
    }

    private static int others(char limit, Replica one) {
        return resource.running(limit) - resource.running(limit, one.id());
    }
}
