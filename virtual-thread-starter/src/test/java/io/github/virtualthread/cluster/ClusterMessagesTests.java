package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Random walks: claims and answers that are lost, late, repeated and in another order, among three replicas that are cut off, stand
 * still, die and have a successor at once, stop and begin again, and an engine that loses all its data, or the last of them: never more
 * permits than there are, lent or used alone. Calls do not outlive their lease here, but
 * the shares that they began with.
 *
 * <p>The same walks each time; others by {@code -Dwalks.seed=1000000}, more by {@code -Dwalks=10000}. One of 10,000 may exceed the
 * permits: a claim of a replica that is dead arrives after the first one of its successor.
 */
class ClusterMessagesTests {

    private static final int WALKS = Integer.getInteger("walks", 1_000);
    private static final long FIRST = Long.getLong("walks.seed", 1);
    private static final int STEPS = 400;
    private static final int REPLICAS = 3;
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final Duration BEAT = Duration.ofMillis(100);

    private final TaskTimer timer = new TaskTimer("timer");
    private final Set<Lending> seen = ConcurrentHashMap.newKeySet();

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    @ParameterizedTest
    @EnumSource(
            value = OnFailure.class,
            names = {"WAIT", "LOCAL_SHARE"})
    void neverMorePermitsThanThereAre(OnFailure onFailure) {
        List<String> wrong = LongStream.range(FIRST, FIRST + WALKS)
                .parallel()
                .mapToObj(seed -> new Walk(seed, onFailure).wrong())
                .flatMap(Stream::ofNullable)
                .toList();

        assertThat(wrong).hasSizeLessThanOrEqualTo(WALKS / 10_000);
        Set<Lending> all = EnumSet.allOf(Lending.class);
        if (onFailure == OnFailure.WAIT) {
            all.remove(Lending.ALONE);
        }
        assertThat(seen).as("calls have begun").containsExactlyInAnyOrderElementsOf(all);
    }

    private final class Walk {

        private final long seed;
        private final OnFailure onFailure;
        private final SplittableRandom random;
        private final MemoryEngine engine;
        private final List<Message> messages = new ArrayList<>();
        private final List<Replica> replicas = new ArrayList<>();
        private final int permits;
        private long nanos = Long.MAX_VALUE - LEASE.toNanos(); // overflows soon
        private Runnable failover;
        private int names;

        /** On its way to the engine, and back if it has an answer. */
        private record Message(
                Replica from,
                Claim claim,
                long sent,
                @Nullable Answer answer) {}

        Walk(long seed, OnFailure onFailure) {
            this.seed = seed;
            this.onFailure = onFailure;
            this.random = new SplittableRandom(seed);
            this.engine = new MemoryEngine();
            this.failover = engine.backup();
            this.permits = 1 + random.nextInt(4 * REPLICAS);
        }

        @Nullable
        String wrong() {
            for (int i = 0; i < REPLICAS; i++) {
                replicas.add(new Replica());
            }
            for (int step = 0; step < STEPS; step++) {
                step(replicas.get(random.nextInt(REPLICAS)));
                int usable = 0;
                int running = 0; // of those that are not alone
                for (Replica replica : replicas) {
                    Lending lending = replica.limit.cluster().lending();
                    usable += replica.share.isValid() ? replica.limit.lent() : 0;
                    running += lending == Lending.ALONE ? 0 : replica.running();
                    seen.add(lending);
                }
                if (Math.max(usable, running) > permits) {
                    return "walks.seed=%d, step %d: %d usable, %d running, of %d"
                            .formatted(seed, step, usable, running, permits);
                }
            }
            return null;
        }

        private void step(Replica replica) {
            int next = random.nextInt(1_000);
            if (next < 200) {
                replica.send(false);
            } else if (next < 580) {
                travel();
            } else if (next < 660) {
                if (replica.isAwake()) {
                    replica.asks(1 + random.nextInt(permits));
                }
            } else if (next < 740) {
                replica.end(1 + random.nextInt(permits));
            } else if (next < 910) {
                pass(random.nextInt(random.nextInt(3) == 0 ? 9_000 : 200));
            } else if (next < 930 && !messages.isEmpty()) {
                messages.remove(random.nextInt(messages.size()));
            } else if (next < 950) {
                replica.cutOffUntil = nanos + random.nextLong(4 * LEASE.toNanos());
            } else if (next < 955) {
                replicas.forEach(each -> each.cutOffUntil = nanos + random.nextLong(4 * LEASE.toNanos()));
            } else if (next < 965) {
                replica.standsStillUntil = nanos + random.nextLong(2 * LEASE.toNanos());
            } else if (next < 968) {
                replica.send(true);
            } else if (next < 980) {
                Replica successor = new Replica();
                successor.cutOffUntil = random.nextBoolean() ? nanos : replica.cutOffUntil;
                replicas.set(replicas.indexOf(replica), successor);
            } else if (next < 982) {
                engine.loseData();
            } else if (next < 986) {
                failover = engine.backup();
            } else if (next < 988) {
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
            if (message.from.cutOffUntil - nanos > 0) {
                if (random.nextBoolean()) { // no connection; otherwise nothing shows it
                    message.from.refused(message);
                }
                return;
            }
            if (message.answer != null) {
                message.from.take(message, message.answer);
                return;
            }
            Answer answer = engine.answer(message.claim);
            if (answer.refusal() == null) {
                messages.add(new Message(message.from, message.claim, message.sent, answer));
            } else {
                message.from.refused(message);
            }
        }

        /** A replica that is awake looks at the clock when it wants to. */
        private void pass(int millis) {
            long end = nanos + TimeUnit.MILLISECONDS.toNanos(millis);
            while (end - nanos > 0) {
                long next = replicas.stream()
                        .filter(Replica::isAwake)
                        .mapToLong(replica -> Math.max(TimeUnit.MILLISECONDS.toNanos(1), replica.share.untilLook()))
                        .reduce(end - nanos, Math::min);
                long wholeMillis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(next));
                nanos += TimeUnit.MILLISECONDS.toNanos(wholeMillis);
                engine.pass(Duration.ofMillis(wholeMillis));
                replicas.stream().filter(Replica::isAwake).forEach(each -> each.share.look());
                replicas.stream().filter(each -> !each.share.isValid()).forEach(each -> each.end(Integer.MAX_VALUE));
            }
        }

        private final class Replica extends ClockedReplica {

            @Nullable
            Claim waitsFor; // one exchange at a time

            long sent;
            long standsStillUntil = nanos;
            long cutOffUntil = nanos;

            Replica() {
                super(
                        LimitSettings.of("partner", permits)
                                .withClusterPermits(permits)
                                .withQueueCapacity(STEPS * permits),
                        new ClusterSettings("shop-" + names++, LEASE, BEAT, onFailure, REPLICAS),
                        timer,
                        () -> nanos,
                        () -> {});
            }

            boolean isAwake() {
                return standsStillUntil - nanos <= 0;
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
}
