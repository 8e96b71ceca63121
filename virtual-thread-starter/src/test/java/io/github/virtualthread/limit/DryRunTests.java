package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings.Adapt;
import io.github.virtualthread.limit.ShadowQueue.ShadowCall;
import io.github.virtualthread.limit.TaskLimit.DryRunState;
import io.github.virtualthread.limit.TaskLimit.Shadow;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A limit that only watches lets every call begin, counts those that run, and shows what it would have done. */
@Timeout(300)
class DryRunTests extends TimedLimits {

    private static final LimitSettings SETTINGS = LimitSettings.of("db", 2).withDryRun(true);

    private static DryRunState state(TaskLimit limit) {
        return Objects.requireNonNull(limit.dryRun());
    }

    @Test
    void nobodyWaitsAndNobodyIsRejected() {
        TaskLimit limit = limit(SETTINGS.withQueueCapacity(0));
        List<Call> calls = Call.asked(limit, 5);

        assertThat(calls).allMatch(Call::holds);
        assertThat(limit.waiting()).isZero();
        assertThat(limit.saturated()).isZero();
        assertThat(limit.inUse()).isEqualTo(5);
        assertThat(limit.available()).isZero();
        assertThat(limit.permits()).isEqualTo(2);
    }

    @Test
    void itShowsWhatWouldHaveHappened() {
        TaskLimit limit = limit(SETTINGS);
        Call.asked(limit, 5).forEach(Call::giveBack);

        DryRunState state = state(limit);
        assertThat(state.mostInUse()).isEqualTo(5);
        assertThat(state.half()).extracting(Shadow::permits, Shadow::waited).containsExactly(1, 4L);
        assertThat(state.same()).extracting(Shadow::permits, Shadow::waited).containsExactly(2, 3L);
        assertThat(state.twice()).extracting(Shadow::permits, Shadow::waited).containsExactly(4, 1L);
        assertThat(state.same().mostWaiting()).isEqualTo(3);
        assertThat(state.same().calls()).isEqualTo(5);
        assertThat(limit.inUse()).isZero();
        assertThat(limit.available()).isEqualTo(2);
    }

    @Test
    void itShowsWhatABoundedQueueWouldHaveRejected() {
        TaskLimit limit = limit(SETTINGS.withQueueCapacity(1));
        Call.asked(limit, 5);

        assertThat(state(limit).half().rejected()).isEqualTo(3);
        assertThat(state(limit).same().rejected()).isEqualTo(2);
        assertThat(state(limit).twice().rejected()).isZero();
    }

    @Test
    void itShowsWhoWouldHaveWaitedTooLong() throws Exception {
        TaskLimit limit = limit(SETTINGS.withMaxWait(Duration.ofMillis(1)));
        Call.asked(limit, 3);
        CountDownLatch later = new CountDownLatch(1);
        timer.schedule(later::countDown, TimeUnit.MILLISECONDS.toNanos(2));
        assertThat(later.await(2, TimeUnit.MINUTES)).isTrue();

        assertThat(state(limit).same().rejected()).isOne();
    }

    @Test
    void callsWithKeysBeginTooAndAreOneQueue() {
        TaskLimit limit = limit(SETTINGS);
        List<Call> calls = List.of(Call.asked(limit, "acme"), Call.asked(limit, "acme"), Call.asked(limit, "acme"));

        assertThat(calls).allMatch(Call::holds);
        assertThat(limit.key("acme").running()).isEqualTo(3);
        assertThat(state(limit).same().waited()).isOne();
        calls.forEach(Call::giveBack);
        assertThat(limit.keys()).isZero();
    }

    @Test
    void fromTheMomentItIsInForceThoseThatRunCount() {
        TaskLimit limit = limit(SETTINGS);
        List<Call> running = Call.asked(limit, 5);
        limit.change(now -> now.withDryRun(false));
        Call next = Call.asked(limit);

        assertThat(next.holds()).isFalse();
        assertThat(limit.inUse()).isEqualTo(5);
        running.subList(0, 3).forEach(Call::giveBack);
        assertThat(next.holds()).isFalse();

        running.get(3).giveBack();
        assertThat(next.holds()).isTrue();
        running.get(4).giveBack();
        next.giveBack();
        assertThat(limit.available()).isEqualTo(2);
    }

    @Test
    void whoeverWaitsBeginsWhenTheDryRunBegins() {
        TaskLimit limit = limit(SETTINGS.withDryRun(false));
        List<Call> calls = Call.asked(limit, 5);
        assertThat(limit.dryRun()).isNull();
        limit.change(now -> now.withDryRun(true));

        assertThat(calls).allMatch(Call::holds);
        assertThat(state(limit).mostInUse()).isEqualTo(5);
        // two ran before: no shadow has them
        assertThat(state(limit).same())
                .extracting(Shadow::calls, Shadow::waited)
                .containsExactly(3L, 1L);
        calls.forEach(Call::giveBack);
        assertThat(state(limit).same().calls()).isEqualTo(3);
        assertThat(limit.available()).isEqualTo(2);
    }

    @Test
    void theCountsOfTwoDryRunsAddUp() {
        TaskLimit limit = limit(SETTINGS);
        List<Call> running = Call.asked(limit, 5);
        limit.change(now -> now.withDryRun(false));
        running.subList(0, 4).forEach(Call::giveBack);
        limit.change(now -> now.withDryRun(true));
        Call.asked(limit, 2);

        Call last = Call.asked(limit);

        // one of the first ones runs: no shadow has it any more
        assertThat(state(limit).same())
                .extracting(Shadow::calls, Shadow::waited)
                .containsExactly(8L, 4L);
        assertThat(limit.inUse()).isEqualTo(4);
        last.giveBack();
    }

    @Test
    void otherNumbersApplyToThoseThatWaitInTheShadows() {
        TaskLimit limit = limit(SETTINGS);
        Call.asked(limit, 5);
        limit.resize(5);

        assertThat(state(limit).half())
                .extracting(Shadow::permits, Shadow::begun)
                .containsExactly(2, 2L);
        assertThat(state(limit).same())
                .extracting(Shadow::permits, Shadow::begun)
                .containsExactly(5, 5L);
        assertThat(state(limit).twice())
                .extracting(Shadow::permits, Shadow::begun)
                .containsExactly(10, 5L);
    }

    @Test
    void aNumberThatIsTooLargeToDoubleIsAllThereAre() {
        assertThat(state(limit(LimitSettings.of("db", Integer.MAX_VALUE - 1).withDryRun(true)))
                        .twice()
                        .permits())
                .isEqualTo(Integer.MAX_VALUE);
    }

    @Test
    void aCallWithoutAThreadRunsNowhere() throws Exception {
        TaskLimit limit = limit(SETTINGS);
        Call failed = Call.withoutThread(limit);
        assertThat(failed.ask()).isNull();
        failed.failed.get(2, TimeUnit.MINUTES);

        assertThat(limit.inUse()).isZero();
        Call.asked(limit, 2);
        assertThat(state(limit).same().waited()).isZero();
    }

    @Test
    void whatOccupiesTheLimitIsReal() {
        TaskLimit limit = limit(SETTINGS);
        TaskLimit.Occupation occupation = limit.occupy();
        Call call = Call.asked(limit);
        assertThat(call.holds()).isFalse();
        assertThat(limit.available()).isZero();
        assertThat(state(limit).same().calls()).isZero();

        occupation.close();
        assertThat(call.holds()).isTrue();
        assertThat(state(limit).same())
                .extracting(Shadow::calls, Shadow::waited)
                .containsExactly(1L, 0L);
    }

    @Test
    void anotherLimitMayNotLieWithinIt() {
        TaskLimits limits =
                limits(LimitSettings.of("db", 2), LimitSettings.of("report", 1).withWithin("db"));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits.get("db").change(now -> now.withDryRun(true)))
                .withMessage("Limit 'db': dry-run must be false, because other limits lie within it, and a dry run"
                        + " watches one queue");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits(SETTINGS, LimitSettings.of("report", 1).withWithin("db")))
                .withMessage("Limit 'report' lies within 'db', whose dry-run must be false then, because a dry run"
                        + " watches one queue");
    }

    static List<Arguments> unwatched() {
        return List.of(
                unwatched("within", now -> now.withWithin("all")),
                unwatched("permits-per-key", now -> now.withPermitsPerKey(1)),
                unwatched("queue-capacity-per-key", now -> now.withQueueCapacityPerKey(1)),
                unwatched("key-weights", now -> now.withKeyWeights(Map.of("gold", 2.0))),
                unwatched("cluster-permits", now -> now.withClusterPermits(20)),
                unwatched("adapt", now -> now.withAdapt(new Adapt(1, 9, Duration.ofSeconds(1)))));
    }

    private static Arguments unwatched(String key, UnaryOperator<LimitSettings> change) {
        return Arguments.of(key, change);
    }

    @ParameterizedTest
    @MethodSource("unwatched")
    void whatItDoesNotWatchIsRefused(String key, UnaryOperator<LimitSettings> change) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> change.apply(SETTINGS))
                .withMessage(
                        "Limit 'db': dry-run must be false with %s, because a dry run watches one queue with one"
                                + " number of permits",
                        key);
    }

    @Test
    void whereMemoryIsShortTheShadowsForgetWhoRuns() {
        boolean[] isShort = {false};
        DryRun dryRun = new DryRun(came -> {
            if (isShort[0]) {
                throw new OutOfMemoryError("no room");
            }
            return new ShadowCall(came);
        });
        dryRun.resize(SETTINGS, 0);
        Call first = new Call(null);
        Call second = new Call(null);
        Call third = new Call(null);
        dryRun.begin(first, 1, 1);
        isShort[0] = true;
        dryRun.begin(second, 2, 2);
        isShort[0] = false;
        dryRun.begin(third, 3, 3);
        dryRun.end(first, 4);
        dryRun.end(second, 5);
        dryRun.end(third, 6);

        assertThat(dryRun.state(7).half().waited()).isZero();
        assertThat(dryRun.state(7).half().begun()).isEqualTo(2);
        assertThat(dryRun.state(7).mostInUse()).isEqualTo(3);
    }

    /** As {@link TaskLimit#dryRun()} counts for meters, which must not move while the limit is in force. */
    @Test
    void aShadowStopsWhenTheLimitIsInForce() {
        DryRun dryRun = new DryRun(ShadowCall::new);
        dryRun.resize(SETTINGS.withMaxWait(Duration.ofNanos(10)), 0);
        List<Call> calls = List.of(new Call(null), new Call(null), new Call(null));
        calls.forEach(call -> dryRun.begin(call, 1, 0));
        dryRun.stop(5);
        calls.forEach(call -> dryRun.end(call, 6));

        assertThat(dryRun.state(1_000).same().rejected()).isZero();
        assertThat(dryRun.state(1_000).same().begun()).isEqualTo(2);
    }

    @Test
    void noCallIsKeptAliveByADryRunThatIsOver() throws Exception {
        TaskLimit limit = limit(SETTINGS);
        WeakReference<Call> gone = new WeakReference<>(Call.asked(limit));
        limit.change(now -> now.withDryRun(false));

        for (int attempt = 0; attempt < 100 && gone.get() != null; attempt++) {
            System.gc();
        }
        assertThat(gone.get()).isNull();
        assertThat(limit.inUse()).isOne();
    }

    /** The calls of the first dry run end in the second, which does not have them. */
    @Test
    void aDryRunForgetsTheCallsOfTheOneBefore() {
        TaskLimit limit = limit(SETTINGS);
        List<Call> earlier = Call.asked(limit, 2);
        limit.change(now -> now.withDryRun(false));
        limit.change(now -> now.withDryRun(true));
        earlier.forEach(Call::giveBack);
        Call.asked(limit, 3);

        assertThat(state(limit).same().waited()).isOne();
    }

    /** As does a task whose time is over when it has its permit. */
    @Test
    void aCallThatEndsAfterTheDryRunMayClaimItsReport() {
        TaskLimit limit = limit(SETTINGS);
        Call call = Call.asked(limit);
        limit.change(now -> now.withDryRun(false));
        call.giveBack();

        assertThat(call.claimReport()).isTrue();
        assertThat(limit.inUse()).isZero();
    }

    @Test
    void aCallFindsAPermitHoweverManyRun() {
        TaskLimit limit = limit(SETTINGS);
        Call.asked(limit, 3);
        assertThat(limit.isAnyFree()).isTrue();

        limit.change(now -> now.withDryRun(false));
        assertThat(limit.isAnyFree()).isFalse();
        limit.change(now -> now.withDryRun(true));
        limit.occupy();
        assertThat(limit.isAnyFree()).isFalse();
    }

    /** Whatever happens, the limit counts who runs, and when all is quiet nothing is left in a shadow. */
    @Test
    void nothingIsLostOnTheWay() {
        SplittableRandom random = new SplittableRandom(7);
        TaskLimit limit = limit(SETTINGS);
        List<Call> calls = new ArrayList<>();
        for (int step = 0; step < 20_000; step++) {
            switch (random.nextInt(20)) {
                case 0 -> limit.resize(1 + random.nextInt(6));
                case 1 -> {
                    boolean dry = random.nextBoolean();
                    limit.change(now -> now.withDryRun(dry));
                }
                case 2 -> limit.setQueueCapacity(random.nextBoolean() ? 3 : LimitSettings.UNBOUNDED);
                case 3, 4, 5, 6, 7, 8, 9, 10, 11 -> end(calls, random);
                default -> ask(limit, calls, random.nextBoolean() ? null : "acme");
            }
            assertThat(limit.inUse())
                    .isEqualTo((int) calls.stream().filter(Call::holds).count());
            assertThat(limit.isDryRun() ? limit.waiting() : 0).isZero();
        }
        while (!calls.isEmpty()) {
            end(calls, random);
        }
        limit.change(now -> now.withDryRun(true).withPermits(2).withQueueCapacity(LimitSettings.UNBOUNDED));
        Shadow before = state(limit).twice();
        Call.asked(limit, 4).forEach(Call::giveBack);

        assertThat(state(limit).twice().calls()).isEqualTo(before.calls() + 4);
        assertThat(state(limit).twice().waited()).isEqualTo(before.waited());
        assertThat(limit.inUse()).isZero();
    }

    private static void ask(TaskLimit limit, List<Call> calls, @Nullable String key) {
        Call call = new Call(limit, key, null);
        Reason refused = call.ask();
        if (refused == null) {
            calls.add(call);
        }
    }

    private static void end(List<Call> calls, SplittableRandom random) {
        if (!calls.isEmpty()) {
            Call call = calls.remove(random.nextInt(calls.size()));
            if (call.holds()) {
                call.giveBack();
            } else {
                call.leaveQueue();
            }
        }
    }
}
