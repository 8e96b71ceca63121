package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimit.Occupation;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A limit whose permits are lent grants none without a lease, none beyond its share, and tells who lends them what it needs. */
@Timeout(300)
@Tag("jdk")
class PermitLeaseTests extends LentLimits {

    @Test
    void withoutALeaseCallsWait() {
        TaskLimits limits = limits(LimitSettings.of("partner", 2).withClusterPermits(2));
        TaskLimit limit = limits.get("partner");
        Call early = Call.asked(limit);
        Lease lease = new Lease(limit);
        lease.start();
        Call later = Call.asked(limit);

        assertThat(early.holds()).isFalse();
        assertThat(later.holds()).isFalse();
        assertThat(limit.available()).isZero();
        assertThat(limit.whyFull()).isEqualTo("nobody lends it permits");
        assertThat(lease.told).as("both calls").isEqualTo(2);
        assertThat(lease.wantedSinceLast()).isEqualTo(2);

        lease.lends(2);
        assertThat(early.holds()).isTrue();
        assertThat(later.holds()).isTrue();
        assertThat(limit.whyFull()).isNull();
    }

    @Test
    void aPermitThatComesBackIsNotHandedOverWhenTheLeaseIsOver() {
        TaskLimit limit =
                limits(LimitSettings.of("partner", 1).withClusterPermits(1)).get("partner");
        Lease lease = lent(limit, 1);
        Call first = Call.asked(limit);
        Call second = Call.asked(limit);

        lease.validFor = 0;
        first.giveBack();
        Call third = Call.asked(limit);

        assertThat(second.holds()).isFalse();
        assertThat(third.holds()).isFalse();
        assertThat(limit.inUse()).isZero();
        assertThat(limit.saturated()).isPositive();
        lease.lends(1);
        assertThat(second.holds()).as("it has waited longest").isTrue();
        assertThat(third.holds()).isFalse();
    }

    @Test
    void aShareThatShrinksIsReachedAsCallsEnd() {
        TaskLimit limit =
                limits(LimitSettings.of("partner", 4).withClusterPermits(4)).get("partner");
        Lease lease = lent(limit, 4);
        List<Call> calls = Call.asked(limit, 6);

        lease.lends(1);
        assertThat(lease.held()).isEqualTo(4);
        assertThat(limit.lent()).isOne();
        calls.subList(0, 3).forEach(Call::giveBack);
        assertThat(calls.get(4).holds()).isFalse();
        assertThat(lease.held()).isOne();
        calls.get(3).giveBack();
        assertThat(calls.get(4).holds()).isTrue();
        assertThat(calls.get(5).holds()).isFalse();
    }

    @Test
    void fewerPermitsThanTheShareAreStillHeldUntilTheyAreGivenBack() {
        TaskLimit limit =
                limits(LimitSettings.of("partner", 4).withClusterPermits(4)).get("partner");
        Lease lease = lent(limit, 4);

        limit.resize(2);
        assertThat(limit.lent()).isEqualTo(2);
        assertThat(lease.held()).as("after another change it may use them").isEqualTo(4);
        assertThat(Call.asked(limit, 3)).extracting(Call::holds).containsExactly(true, true, false);
        limit.resize(4);
        assertThat(limit.inUse()).isEqualTo(3);
    }

    @Test
    void callsThatOnlyTheirKeyHoldsUpWantNoPermits() {
        TaskLimit limit = limits(LimitSettings.of("tenant", 10)
                        .withClusterPermits(10)
                        .withPermitsPerKey(1)
                        .withQueueCapacityPerKey(3))
                .get("tenant");
        Lease lease = lent(limit, 5);
        Call.asked(limit, "acme");
        int told = lease.told;
        for (int i = 0; i < 3; i++) {
            Call.asked(limit, "acme");
        }
        for (int i = 0; i < 20; i++) {
            assertThat(new Call(limit, "acme", null).ask()).isEqualTo(Reason.KEY_QUEUE_FULL);
        }

        assertThat(lease.told)
                .as("nobody asks for permits that the key cannot use")
                .isEqualTo(told);
        assertThat(lease.wantedSinceLast()).isOne();
    }

    @Test
    void aCallThatIsRefusedForWantOfPermitsCountsAsWantedOnce() {
        TaskLimit limit = limits(
                        LimitSettings.of("partner", 3).withClusterPermits(3).withQueueCapacity(0))
                .get("partner");
        Lease lease = lent(limit, 1);
        Call.asked(limit);
        assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);

        assertThat(lease.told).isOne();
        assertThat(lease.wantedSinceLast()).isEqualTo(2);
        assertThat(lease.wantedSinceLast()).isOne();
        for (int i = 0; i < 10; i++) {
            assertThat(new Call(limit).ask()).isEqualTo(Reason.QUEUE_FULL);
        }
        assertThat(lease.wantedSinceLast()).as("all there are").isEqualTo(3);
    }

    @Test
    void anOccupiedLimitWantsNothingUntilItIsOpenAgain() {
        TaskLimit limit =
                limits(LimitSettings.of("partner", 3).withClusterPermits(3)).get("partner");
        Lease lease = lent(limit, 0);
        Occupation occupation = limit.occupy();
        Call.asked(limit, 2);
        assertThat(lease.told).isZero();
        assertThat(lease.wantedSinceLast()).isZero();

        occupation.close();
        assertThat(lease.told).isOne();
        assertThat(lease.wantedSinceLast()).isEqualTo(2);
    }

    @Test
    void anOccupiedLimitBeginsNothingWhateverIsLent() {
        TaskLimit limit =
                limits(LimitSettings.of("partner", 3).withClusterPermits(3)).get("partner");
        Lease lease = lent(limit, 1);
        Occupation occupation = limit.occupy();
        Call call = Call.asked(limit);
        lease.lends(3);
        assertThat(call.holds()).isFalse();
        assertThat(limit.inUse()).isZero();
        assertThat(lease.held()).isEqualTo(3);
        occupation.close();
        assertThat(call.holds()).isTrue();
    }

    @Test
    void whoRefusesRefusesNewCallsOnly() {
        TaskLimit limit =
                limits(LimitSettings.of("partner", 3).withClusterPermits(3)).get("partner");
        Lease lease = lent(limit, 0);
        Call waits = Call.asked(limit);
        lease.refuses = true;
        lease.validFor = 0;

        assertThat(new Call(limit).ask()).isEqualTo(Reason.NO_LEASE);
        assertThat(waits.rejected).isNotDone();
        assertThat(limit.waiting()).isOne();
        assertThat(lease.wantedSinceLast()).as("what is refused, too").isEqualTo(2);
        lease.lends(3);
        assertThat(waits.holds()).isTrue();
    }

    @Test
    void aCallWaitsNoLongerThanItMayWhileNothingIsLent() throws Exception {
        TaskLimit limit = limits(
                        LimitSettings.of("partner", 3).withClusterPermits(3).withMaxWait(Duration.ofMillis(1)))
                .get("partner");
        lent(limit, 0);
        assertThat(Call.asked(limit).rejected.get(5, TimeUnit.MINUTES)).isEqualTo(Reason.WAIT_TIMEOUT);
    }

    @Test
    void callsAreEvictedAndRejectedWhileNothingIsLent() throws Exception {
        TaskLimits limits = limits(LimitSettings.of("partner", 3).withClusterPermits(3));
        TaskLimit limit = limits.get("partner");
        lent(limit, 0);
        Call evicted = Call.asked(limit);
        assertThat(limits.evictWaiting("partner")).isOne();
        Call stopped = Call.asked(limit);
        limits.rejectWaiting();

        assertThat(evicted.rejected.get(5, TimeUnit.MINUTES)).isEqualTo(Reason.EVICTED);
        assertThat(stopped.rejected.get(5, TimeUnit.MINUTES)).isEqualTo(Reason.SHUTDOWN);
    }

    /** Whatever happens in whatever order, no call begins without a lease, none beyond the share, and all begin in the end. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void noCallBeginsBeyondWhatIsLent(boolean within) {
        long seed = Long.getLong("stress.seed", System.nanoTime());
        System.out.println("stress.seed=" + seed);
        SplittableRandom random = new SplittableRandom(seed);
        LimitSettings settings =
                LimitSettings.of("partner", 6).withClusterPermits(6).withQueueCapacity(1_000_000);
        TaskLimits limits = limits(LimitSettings.of("db", 4), within ? settings.withWithin("db") : settings);
        TaskLimit limit = limits.get("partner");
        Lease lease = lent(limit, 0);
        List<Call> waiting = new ArrayList<>();
        List<Call> running = new ArrayList<>();
        List<Occupation> occupations = new ArrayList<>();
        for (int step = 0; step < 20_000; step++) {
            int before = running.size();
            int share = lease.lent();
            switch (random.nextInt(12)) {
                case 0 -> lease.lends(share = random.nextInt(7));
                case 1 -> lease.validFor = 0;
                case 2 -> lease.validFor = random.nextInt(4);
                case 3 -> limit.resize(1 + random.nextInt(6));
                case 4 -> {
                    if (occupations.isEmpty()) {
                        occupations.add(limit.occupy());
                    } else {
                        occupations.remove(0).close();
                    }
                }
                case 5, 6, 7, 8 -> {
                    if (!running.isEmpty()) {
                        running.remove(random.nextInt(running.size())).giveBack();
                        before--;
                    }
                }
                default -> waiting.add(Call.asked(limit));
            }
            boolean mayBegin = lease.wasValid;
            lease.wasValid = lease.validFor > 0;
            int begun = 0;
            for (Call call : List.copyOf(waiting)) {
                if (call.holds()) {
                    assertThat(waiting.get(0)).as("first in, first out").isSameAs(call);
                    waiting.remove(0);
                    running.add(call);
                    begun++;
                }
            }
            if (begun > 0) {
                assertThat(mayBegin || lease.wasValid).as("a lease").isTrue();
                assertThat(occupations).isEmpty();
                assertThat(running.size()).isLessThanOrEqualTo(Math.min(share, limit.permits()));
            }
            assertThat(running.size()).isEqualTo(before + begun);
            assertThat(limit.inUse()).isEqualTo(running.size());
            assertThat(limit.waiting()).isEqualTo(waiting.size());
            assertThat(lease.held()).isEqualTo(Math.max(share, running.size()));
            assertThat(limits.get("db").inUse()).isEqualTo(within ? running.size() : 0);
        }
        occupations.forEach(Occupation::close);
        limit.resize(6);
        lease.lends(6);
        while (!running.isEmpty() || !waiting.isEmpty()) {
            waiting.removeIf(call -> call.holds() && running.add(call));
            assertThat(running).as("the next begin").isNotEmpty();
            running.forEach(Call::giveBack);
            running.clear();
        }
        assertThat(limit.available()).isEqualTo(6);
    }
}
