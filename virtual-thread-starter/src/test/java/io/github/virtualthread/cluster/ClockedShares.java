package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;

/** Replicas that share a limit, by a clock that tests set: nothing happens but what they do. */
@Timeout(300)
abstract class ClockedShares {

    static final Duration LEASE = Duration.ofSeconds(10);
    static final Duration VALID = Duration.ofSeconds(9);
    static final Duration STEP = Duration.ofMillis(200);
    static final Duration BEAT = Duration.ofMillis(100);
    static final int PERMITS = 20;

    final TaskTimer timer = new TaskTimer("timer");
    final MemoryEngine engine = new MemoryEngine(false);
    long nanos = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(20); // overflows soon
    final Replica a = new Replica("a");
    final Replica b = new Replica("b");
    final Replica c = new Replica("c");

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    static LimitSettings limit() {
        return LimitSettings.of("partner", PERMITS).withClusterPermits(PERMITS);
    }

    void pass(Duration time) {
        nanos += time.toNanos();
        engine.pass(time);
    }

    /** They come to know each other, and the engine knows that they have their answers. */
    void learn(Replica... replicas) {
        for (int i = 0; i < 4; i++) {
            pass(BEAT);
            for (Replica each : replicas) {
                each.exchange();
            }
        }
    }

    /** The lease ends, and the engine does not answer. Afterwards it does. */
    void lose(Replica replica) {
        engine.fail();
        pass(replica.limit.cluster().leaseLeft());
        replica.share.look();
        replica.exchange();
        patience(replica);
        goAlone(replica);
        engine.heal();
    }

    /** Two leases after the last answer. */
    void goAlone(Replica replica) {
        pass(LEASE);
        replica.share.look();
    }

    void neverReached(Replica replica) {
        engine.fail();
        replica.exchange();
        patience(replica);
        goAlone(replica);
        goAlone(replica);
    }

    void patience(Replica replica) {
        for (int i = 0; i < 5; i++) {
            pass(STEP);
            replica.share.look();
        }
    }

    final class Replica extends ClockedReplica {

        Replica(String name) {
            this(name, limit(), OnFailure.WAIT, null);
        }

        /** One of so many that may run without the engine. */
        Replica(String name, int replicas) {
            this(name, limit(), OnFailure.LOCAL_SHARE, replicas);
        }

        Replica(String name, LimitSettings settings, OnFailure onFailure, @Nullable Integer replicas) {
            super(settings, new ClusterSettings(name, LEASE, BEAT, onFailure, replicas), timer, () -> nanos, () -> {});
        }

        /** Returns whether there was an answer, in time. */
        boolean exchange() {
            return answer(share.claim());
        }

        boolean answer(Claim claim) {
            try {
                return share.answered(claim, engine.exchange(List.of(claim)).get(0), nanos);
            } catch (Exception failure) {
                share.failed();
                return false;
            }
        }

        /** So many calls are lent permits, and run. */
        void runs(int calls) {
            asks(calls);
            for (int i = 0; i < 3 && running() < calls; i++) {
                exchange();
            }
            assertThat(running()).isEqualTo(calls);
        }
    }
}
