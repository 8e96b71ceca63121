package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.test.MemoryEngine;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;

/**
 * Claims and answers that are lost, late, repeated and in another order, among replicas that stand still, die, stop and begin again,
 * and an engine that loses all its data, or the last of them: never more permits than there are. Calls do not outlive their lease here.
 */
class ClusterMessagesTests {

    private static final int STEPS = 20_000;
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration BEAT = Duration.ofMillis(100);

    private static final AtomicInteger allBegun = new AtomicInteger();

    /** On its way to the engine, and back if it has an answer. */
    private record Message(
            Replica from, Claim claim, long sent, @Nullable Answer answer) {}

    private final long seed = Long.getLong("stress.seed", System.nanoTime());
    private final SplittableRandom random = new SplittableRandom(seed);
    private final TaskTimer timer = new TaskTimer("timer");
    private final MemoryEngine engine = new MemoryEngine();
    private final List<Message> messages = new ArrayList<>();
    private final List<Replica> replicas = new ArrayList<>();
    private final int permits = 1 + random.nextInt(10);
    private long nanos = Long.MAX_VALUE - LEASE.toNanos(); // overflows soon
    private Runnable failover = engine.backup();
    private int begun;
    private int names;

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    @RepeatedTest(10)
    void neverMorePermitsThanThereAre() {
        for (int i = 0; i < 3; i++) {
            replicas.add(new Replica());
        }
        for (int step = 0; step < STEPS; step++) {
            step(replicas.get(random.nextInt(replicas.size())));
            assertThat(replicas.stream().mapToInt(Replica::uses).sum())
                    .as("stress.seed=%d, step %d", seed, step)
                    .isLessThanOrEqualTo(permits);
        }
        allBegun.addAndGet(begun);
    }

    /** Not in each round: where data are lost again and again, nobody may begin. */
    @AfterAll
    static void callsHaveBegun() {
        assertThat(allBegun).hasPositiveValue();
    }

    private void step(Replica replica) {
        int next = random.nextInt(1_000);
        if (next < 150) {
            replica.send(false);
        } else if (next < 600) {
            travel();
        } else if (next < 700) {
            int calls = 1 + random.nextInt(permits);
            if (replica.isAwake()) {
                replica.asks(calls);
            }
        } else if (next < 800) {
            begun += replica.end(1 + random.nextInt(permits));
        } else if (next < 950) {
            pass(random.nextInt(random.nextInt(10) == 0 ? 9_000 : 200));
        } else if (next < 980 && !messages.isEmpty()) {
            messages.remove(random.nextInt(messages.size()));
        } else if (next < 984) {
            replica.standsStillUntil = nanos + random.nextLong(2 * LEASE.toNanos());
        } else if (next < 986) {
            replica.send(true);
        } else if (next == 986) {
            replicas.set(replicas.indexOf(replica), new Replica());
        } else if (next == 987 && random.nextInt(4) == 0) {
            engine.loseData();
        } else if (next == 988) {
            failover = engine.backup();
        } else if (next == 989 && random.nextInt(4) == 0) {
            failover.run();
            engine.restart();
        }
    }

    /** One message comes where it goes to: mostly the last one, at times once more later. */
    private void travel() {
        if (messages.isEmpty()) {
            return;
        }
        int last = messages.size() - 1;
        Message message = messages.get(random.nextInt(3) == 0 ? random.nextInt(messages.size()) : last);
        if (message.answer != null || random.nextInt(6) > 0) {
            messages.remove(message);
        }
        if (message.answer != null) {
            message.from.take(message, message.answer);
            return;
        }
        try {
            Answer answer = engine.exchange(List.of(message.claim)).getFirst();
            if (answer.refusal() == null) {
                messages.add(new Message(message.from, message.claim, message.sent, answer));
            } else {
                message.from.refused(message);
            }
        } catch (Exception impossible) {
            throw new AssertionError(impossible);
        }
    }

    private void pass(int millis) {
        nanos += TimeUnit.MILLISECONDS.toNanos(millis);
        engine.pass(Duration.ofMillis(millis));
        for (Replica each : replicas) {
            if (each.isAwake()) {
                each.share.look();
            }
            if (!each.isLent()) {
                each.end(Integer.MAX_VALUE);
            }
        }
    }

    private final class Replica extends ClockedReplica {

        @Nullable
        Claim waitsFor; // one exchange at a time

        long sent;
        long standsStillUntil = nanos;

        Replica() {
            super(
                    LimitSettings.of("partner", permits)
                            .withClusterPermits(permits)
                            .withQueueCapacity(STEPS * 10),
                    new ClusterSettings("shop-" + names++, LEASE, BEAT, OnFailure.WAIT, null),
                    timer,
                    () -> nanos,
                    () -> {},
                    goodbye -> {});
        }

        boolean isAwake() {
            return standsStillUntil - nanos <= 0;
        }

        boolean isLent() {
            return limit.cluster().lending() == Lending.LENT; // by the clock
        }

        /** What it may use, and what it does use. */
        int uses() {
            return Math.max(isLent() ? limit.lent() : 0, running());
        }

        /** At times, it gives up an exchange before. */
        void send(boolean leaves) {
            if (!isAwake() || (waitsFor != null && nanos - sent < LEASE.toNanos() && random.nextInt(8) > 0)) {
                return;
            }
            if (waitsFor != null) {
                share.failed();
            }
            Claim claim = leaves ? share.goodbye() : share.claim();
            waitsFor = claim;
            sent = nanos;
            messages.add(new Message(this, claim, nanos, null));
        }

        void take(Message message, Answer answer) {
            if (isAwake() && message.claim.equals(waitsFor)) {
                waitsFor = null;
                share.answered(message.claim, answer, message.sent);
            }
        }

        void refused(Message message) {
            if (isAwake() && message.claim.equals(waitsFor)) {
                waitsFor = null;
                share.failed();
            }
        }
    }
}
