package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.Rounds.Result;
import io.github.virtualthread.execution.Rounds.Run;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.Adapt;
import io.github.virtualthread.limit.Overload;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.ToDoubleFunction;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a limit that adapts its number of permits does to a partner, on a virtual clock, beside a limit with the best number. The partner does
 * 20 calls at once in 50 to 150 ms; more of them share it.
 */
@Timeout(300)
@Tag("slow")
class AdaptingLimitTests {

    private static final int BEST = 20;
    private static final double CAPACITY = BEST / 0.1;
    private static final double DEADLINE = 2;
    private static final ToDoubleFunction<Random> WORK = random -> 0.05 + 0.1 * random.nextDouble();
    private static final Adapt ADAPT = new Adapt(4, 80, Duration.ofMillis(150));

    private final TaskTimer timer = new TaskTimer("timer");
    private final List<Integer> numbers = new ArrayList<>();

    @AfterEach
    void closeTimer() {
        timer.close();
    }

    private TaskLimit limit(LimitSettings settings) {
        return limits(settings).get(settings.name());
    }

    private TaskLimits limits(LimitSettings... settings) {
        return new TaskLimits(List.of(settings), timer, change -> {});
    }

    private static LimitSettings settings(boolean adapts) {
        LimitSettings fixed = LimitSettings.of("partner", BEST).withRejectHopeless(true);
        return adapts ? fixed.withAdapt(ADAPT) : fixed;
    }

    /** Calls of a limit, or of one within it, so many a second, with a deadline that ends bodies too. */
    private Overload calls(TaskLimit used, TaskLimit adapting, double load) {
        Overload overload = new Overload(used)
                .work(WORK)
                .capacity(BEST)
                .deadline(DEADLINE)
                .interrupted()
                .rate(now -> load * CAPACITY);
        return adapting.settings().adapt() == null ? overload : adapts(overload, adapting);
    }

    private Overload adapts(Overload overload, TaskLimit limit) {
        Adapt adapt = limit.settings().adapt();
        Rounds rounds = new Rounds(0);
        return overload.listening((began, now, isLate) -> {
            Result round = rounds.ended(limit.permits(), adapt, new Run(began, now, isLate), limit.inUse());
            if (round != null && round.permits() != limit.permits()) {
                limit.resize(round.permits());
                numbers.add(round.permits());
            }
        });
    }

    private interface Scenario {

        /** Changes what happens to the calls. */
        void prepare(Overload overload);
    }

    /** Of what a limit with the best number does from one second to the other, the part that one that adapts does. */
    private double share(UnaryOperator<LimitSettings> change, double load, Scenario scenario, int from, int to) {
        double[] done = new double[2];
        for (boolean adapts : new boolean[] {true, false}) {
            TaskLimit limit = limit(change.apply(settings(adapts)));
            Overload overload = calls(limit, limit, load);
            scenario.prepare(overload);
            done[adapts ? 0 : 1] = overload.run(to).done(from, to);
        }
        System.out.printf(
                "load %s: %.0f calls a second in time, %.0f with the best number; numbers %s%n",
                load, done[0], done[1], numbers.stream().distinct().limit(60).toList());
        return done[0] / done[1];
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.3, 0.5, 0.7, 0.9, 1.1, 3})
    void itDoesAsMuchAsTheBestNumber(double load) {
        assertThat(share(settings -> settings, load, overload -> {}, 10, 60)).isGreaterThanOrEqualTo(0.95);
    }

    @Test
    void aBurstPasses() {
        Scenario burst = overload -> overload.rate(now -> now > 20 && now < 25 ? 3 * CAPACITY : CAPACITY / 2);

        assertThat(share(settings -> settings, 0.5, burst, 30, 60)).isGreaterThanOrEqualTo(0.98);
    }

    @ParameterizedTest
    @CsvSource({"0.2, 5, 0.5", "0.25, 10, 0.9", "0.1, 20, 0.9", "0.000001, 30, 0.9", "0.000001, 30, 3"})
    void aSlowTimePasses(double speed, int seconds, double load) {
        Scenario slow = overload -> overload.speed(20, speed).speed(20 + seconds, 1);

        assertThat(share(settings -> settings, load, slow, 35 + seconds, 90 + seconds))
                .isGreaterThanOrEqualTo(0.9);
    }

    /** A wait is neither needed for growth nor is it a reason. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 200})
    void aSlowTimePassesWithBoundedQueues(int queue) {
        Scenario slow = overload -> overload.speed(20, 0.25).speed(30, 1);

        assertThat(share(settings -> settings.withQueueCapacity(queue), 0.9, slow, 45, 105))
                .isGreaterThanOrEqualTo(0.9);
    }

    /** Bodies that begin shortly before their deadline say nothing about the partner. */
    @Test
    void aBurstPassesIfCallsWaitUntilTheirDeadline() {
        Scenario burst =
                overload -> overload.unhalved().rate(now -> now > 20 && now < 25 ? 3 * CAPACITY : CAPACITY / 2);

        assertThat(share(settings -> settings, 0.5, burst, 30, 60)).isGreaterThanOrEqualTo(0.98);
    }

    /** All runs are stopped before they could be slow. */
    @Test
    void aDeadPartnerWithShortDeadlinesDoesNotWindTheNumberUp() {
        TaskLimit limit = limit(settings(true));
        int[] before = {0};
        calls(limit, limit, 3)
                .deadline(0.14)
                .speed(20, 0.000001)
                .at(20, () -> before[0] = limit.permits())
                .run(60);

        assertThat(limit.permits()).isLessThanOrEqualTo(before[0] + 1);
    }

    @Test
    void aLimitAroundAnotherComesBackToo() {
        TaskLimits limits = limits(settings(true), LimitSettings.of("inner", 80).withWithin("partner"));
        Overload overload = calls(limits.get("inner"), limits.get("partner"), 0.9)
                .speed(20, 0.25)
                .speed(30, 1)
                .run(105);

        assertThat(overload.done(45, 105)).isGreaterThanOrEqualTo(0.9 * 0.9 * CAPACITY);
    }

    @Test
    void aBoundForEachKeyDoesNotWindTheNumberUp() {
        TaskLimit limit = limit(settings(true).withPermitsPerKey(5));
        calls(limit, limit, 3).keys(random -> "acme").run(60);

        assertThat(limit.permits()).isEqualTo(BEST);
    }

    @Test
    void theNumberFollowsThePartner() {
        TaskLimit limit = limit(settings(true));
        Overload overload =
                calls(limit, limit, 2.5).capacity(60, 5).capacity(120, 40).run(180);

        assertThat(overload.done(10, 60)).isGreaterThanOrEqualTo(0.95 * CAPACITY);
        assertThat(overload.done(70, 120)).isGreaterThanOrEqualTo(0.9 * CAPACITY / 4);
        assertThat(overload.done(140, 180)).isGreaterThanOrEqualTo(0.9 * CAPACITY * 2);
    }

    /** Calls that come by chance need all permits at once now and then. */
    @Test
    void hardlyAnythingChangesWhileItIsIdleOrHasLittleToDo() {
        TaskLimit limit = limit(settings(true));
        calls(limit, limit, 0.3).rate(now -> now < 60 ? 5 : 0.3 * CAPACITY).run(120);

        assertThat(limit.permits()).isBetween(BEST, BEST + 1);
    }

    /** As docs/limits.md says. */
    @ParameterizedTest
    @CsvSource({"0.1, 10", "1, 100", "5, 500"})
    void theWayFromTheLeastUpTakesAsLongAsThePageSays(double run, int seconds) {
        TaskLimit limit = limit(LimitSettings.of("partner", 4)
                .withQueueCapacity(1000)
                .withAdapt(new Adapt(4, 80, Duration.ofMillis((long) (1500 * run)))));
        double[] reached = {0};
        Overload overload = adapts(
                new Overload(limit)
                        .work(random -> run * (0.5 + random.nextDouble()))
                        .capacity(80)
                        .rate(now -> 160 / run),
                limit);
        for (int second = seconds * 2; second > 0; second--) {
            int at = second;
            overload.at(second, () -> reached[0] = limit.permits() >= 72 && reached[0] == 0 ? at : reached[0]);
        }
        overload.run(seconds * 2 + 1);

        System.out.printf("runs of %s s: 72 of 80 permits after %.0f s%n", run, reached[0]);
        assertThat(reached[0]).isBetween(0.5 * seconds, 1.0 * seconds);
    }
}
