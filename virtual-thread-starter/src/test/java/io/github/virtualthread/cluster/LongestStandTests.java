package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Five minutes of replicas that share a limit, by a clock that goes from event to event: no replica stands for long while its calls
 * wait. The longest stand is the longest time between two beginnings of its calls.
 */
@Tag("slow")
@Timeout(300)
class LongestStandTests {

    private static final long BEAT = TimeUnit.MILLISECONDS.toNanos(100);
    private static final Duration LEASE = Duration.ofSeconds(10);
    private static final long WAY = TimeUnit.MILLISECONDS.toNanos(1); // to the engine, and back
    private static final long END = TimeUnit.MINUTES.toNanos(5);

    private final TaskTimer timer = new TaskTimer("timer");
    private final MemoryEngine engine = new MemoryEngine(false);
    private final List<Replica> replicas = new ArrayList<>();
    private long nanos;

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    @ParameterizedTest
    @CsvSource({
        "1, 3, 10", "1, 3, 100", "1, 3, 1000", "1, 3, 1500", "1, 3, 3000",
        "1, 10, 100", "1, 10, 1000", "2, 3, 100", "2, 3, 1500", "2, 5, 1000",
        "3, 10, 10", "3, 10, 2000", "4, 3, 1000", "20, 3, 10", "20, 3, 1500"
    })
    void eachReplicaHasItsTurn(int permits, int count, int millis) {
        for (int i = 0; i < count; i++) {
            replicas.add(new Replica("shop-" + i, permits, millis, 2, 0, i * 37));
        }

        run();

        double stand = millis(replicas.stream()
                .mapToLong(each -> Math.max(each.longestStand, END - each.last))
                .max()
                .orElseThrow());
        assertThat(stand).as("of %s", replicas).isLessThanOrEqualTo(most(permits, count, millis));
        int all = replicas.stream().mapToInt(each -> each.begun).sum();
        assertThat(replicas).allMatch(each -> each.begun > all / count * 8 / 10);
    }

    /** The other one has one call after the other, and never one that waits. */
    @ParameterizedTest
    @CsvSource({"1, 100", "1, 1500", "2, 100"})
    void aReplicaWhoseCallsNeverWaitGivesWayToo(int permits, int millis) {
        replicas.add(new Replica("busy-0", permits, millis, 0, 5, 0));
        replicas.add(new Replica("busy-1", permits, millis, 0, 5, 20));
        replicas.add(new Replica("waits", permits, millis, 2, 0, 37));

        run();

        Replica last = replicas.getLast();
        assertThat(millis(Math.max(last.longestStand, END - last.last)))
                .as("of %s", replicas)
                .isLessThanOrEqualTo(most(permits, 3, millis));
    }

    @Test
    void aPermitIsFreeForOthersSoonAfterTheCallHasEnded() {
        replicas.add(new Replica("seldom-0", 1, 100, 0, 4_000, 0));
        replicas.add(new Replica("seldom-1", 1, 100, 0, 4_000, 1_000));
        replicas.add(new Replica("seldom-2", 1, 100, 0, 4_000, 2_000));

        run();

        assertThat(replicas).allMatch(each -> millis(each.longestWait) <= 300);
        assertThat(replicas)
                .as("asks for a permit, gives it back, and keeps its lease")
                .allMatch(each -> each.exchanges <= 3 * each.begun + 3);
    }

    private static double most(int permits, int count, int millis) {
        return ((double) count / permits + 1) * (millis + 3 * millis(BEAT));
    }

    private static double millis(long nanos) {
        return nanos / 1e6;
    }

    private void run() {
        while (nanos < END) {
            replicas.forEach(Replica::act);
            long next = replicas.stream().mapToLong(Replica::next).min().orElseThrow();
            long step = Math.max(1, TimeUnit.NANOSECONDS.toMillis(next - nanos));
            nanos += TimeUnit.MILLISECONDS.toNanos(step);
            engine.pass(Duration.ofMillis(step));
        }
    }

    private record Call(Request request, long asked) {}

    private record Running(Request request, long end) {}

    private final class Replica {

        private final TaskLimit limit;
        private final ClusterShare share;
        private final long duration;
        private final int waiting;
        private final long pause;
        private final List<Call> calls = new ArrayList<>();
        private final List<Running> running = new ArrayList<>();
        private boolean asked = true;
        private @Nullable Claim claim;
        private @Nullable Answer answer;
        private long sent;
        private long arrival;
        private long look;
        private long nextCall;
        private long last =
                TimeUnit.SECONDS.toNanos(5); // a replica learns within a third of the lease that it is not alone

        long longestStand;
        long longestWait;
        int begun;
        int exchanges;

        /**
         * Creates a replica without calls.
         *
         * @param millis how long a call runs
         * @param waiting how many calls wait always; 0 if one call comes after the other
         * @param pause how long after a call the next one comes, in milliseconds
         * @param start when it starts, in milliseconds
         */
        Replica(String name, int permits, int millis, int waiting, int pause, int start) {
            LimitSettings settings = LimitSettings.of("partner", permits).withClusterPermits(permits);
            limit = new TaskLimits(List.of(settings), timer, change -> {}).get("partner");
            ClusterSettings cluster = new ClusterSettings(name, LEASE, Duration.ofNanos(BEAT), OnFailure.WAIT, null);
            share = new ClusterShare(limit, name, cluster, () -> nanos, new Exchanges(() -> BEAT, () -> asked = true));
            duration = TimeUnit.MILLISECONDS.toNanos(millis);
            this.waiting = waiting;
            this.pause = TimeUnit.MILLISECONDS.toNanos(pause);
            look = TimeUnit.MILLISECONDS.toNanos(start);
            nextCall = look;
            share.begin();
        }

        /** All that is due. */
        void act() {
            end();
            exchange();
            begin();
        }

        private void end() {
            for (Iterator<Running> all = running.iterator(); all.hasNext(); ) {
                Running each = all.next();
                if (each.end - nanos <= 0) {
                    all.remove();
                    each.request.ends();
                    nextCall = nanos + pause;
                }
            }
        }

        private void begin() {
            boolean one = waiting == 0 && calls.isEmpty() && running.isEmpty() && nextCall - nanos <= 0;
            int more = one ? 1 : waiting - calls.size();
            notice();
            for (int i = 0; i < more || (waiting > 0 && calls.size() < waiting); i++) {
                Request request = new Request(limit);
                assertThat(request.asks()).isNull();
                calls.add(new Call(request, nanos));
                notice();
            }
        }

        /** Calls that run now. */
        private void notice() {
            for (Iterator<Call> all = calls.iterator(); all.hasNext(); ) {
                Call each = all.next();
                if (each.request.isRunning()) {
                    all.remove();
                    running.add(new Running(each.request, nanos + duration));
                    begun++;
                    if (nanos > last) {
                        longestStand = Math.max(longestStand, nanos - last);
                        longestWait = Math.max(longestWait, nanos - Math.max(last, each.asked));
                        last = nanos;
                    }
                }
            }
        }

        /** As {@link ClusterShares}: one exchange at a time, at once if it is asked for, and when a look shows that it is time. */
        private void exchange() {
            if (claim != null && arrival - nanos <= 0) {
                arrive();
            }
            if (look - nanos <= 0) {
                share.look();
                asked |= share.untilClaim() <= 0;
                plan();
            }
            if (asked && claim == null && nanos >= 0) {
                asked = false;
                if (share.untilClaim() <= 0) {
                    sent = nanos;
                    claim = share.claim();
                    arrival = nanos + WAY;
                    exchanges++;
                }
                plan();
            }
        }

        private void arrive() {
            Claim made = claim;
            assertThat(made).isNotNull();
            if (answer == null) {
                answer = engine.answer(made);
                arrival = nanos + WAY;
            } else {
                assertThat(share.answered(made, answer, sent)).isTrue();
                claim = null;
                answer = null;
                plan();
            }
        }

        private void plan() {
            long least = claim == null ? TimeUnit.MILLISECONDS.toNanos(1) : BEAT;
            look = nanos + Math.min(share.untilLook(), Math.max(least, share.untilClaim()));
        }

        long next() {
            long next = Math.min(look, END);
            if (claim != null) {
                next = Math.min(next, arrival);
            } else if (asked) {
                next = nanos;
            }
            for (Running each : running) {
                next = Math.min(next, each.end);
            }
            return waiting == 0 && running.isEmpty() && calls.isEmpty() ? Math.min(next, nextCall) : next;
        }

        @Override
        public String toString() {
            return begun + " calls in " + exchanges + " exchanges, the longest wait " + millis(longestWait) + " ms";
        }
    }
}
