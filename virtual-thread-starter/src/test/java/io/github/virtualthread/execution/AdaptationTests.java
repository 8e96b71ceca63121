package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.Adapt;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.util.function.SingletonSupplier;

/** Limits find as many permits as a partner can use, whose capacity changes. */
@Timeout(600)
class AdaptationTests {

    private static final long RUN = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long STEP = TimeUnit.MILLISECONDS.toNanos(10);
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
    private static final int PHASE = 30; // seconds
    private static final int[] CAPACITIES = {20, 5, 40};

    /** The engine makes its limits after it got its listeners. */
    private final TaskListener adapting = new TaskListener() {
        @Override
        public boolean hears(TaskSpec spec) {
            return adaptation.get().hears(spec);
        }

        @Override
        public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
            adaptation.get().finished(call, outcome, failure);
        }
    };

    @RegisterExtension
    private final TestEngine test = TestEngine.listening(
            List.of(adapting),
            LimitSettings.of("partner", 20)
                    .withMaxWait(Duration.ofSeconds(2))
                    .withRejectHopeless(true)
                    .withAdapt(new Adapt(4, 80, Duration.ofMillis(150))),
            LimitSettings.of("strict", 5).withAdapt(new Adapt(4, 80, Duration.ofNanos(1))),
            LimitSettings.of("inner", 5).withWithin("strict"));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(TaskLimits.class);

    private final Supplier<Adaptation> adaptation = SingletonSupplier.of(() -> new Adaptation(test.limits));
    private final Random random = new Random(7);
    private final AtomicInteger inside = new AtomicInteger();
    private volatile int capacity = 20;
    private volatile Tries.Pauses pauses = new Tries.Pauses();

    /** What the partner has done: when, and how long it took. */
    private record Run(long end, long time) {}

    private final List<Run> runs = Collections.synchronizedList(new ArrayList<>());

    /** A machine that is too busy to do the work in its time may try again. */
    @Test
    @Tag("slow")
    @Tag("one-jdk")
    void theyFindTheNumber() {
        Tries.onePasses(3, this::findTheNumber);
    }

    private Tries.Ending findTheNumber() {
        runs.clear();
        pauses = new Tries.Pauses();
        long begin = System.nanoTime();
        TaskSpec spec = test.engine.spec("Shop.price", "partner");
        StringBuilder permits = new StringBuilder();
        for (int call = 0; call < PHASE * CAPACITIES.length * 500; call++) {
            awaitMoment(begin + call * (SECOND / 500));
            capacity = CAPACITIES[call / 500 / PHASE];
            if (call % 1000 == 0) {
                permits.append(' ').append(test.limit("partner").permits());
            }
            submit(spec);
        }
        TestEngine.awaitIdle(test);
        System.out.printf("permits, each two seconds:%s; %s%n", permits, pauses);
        boolean found = true;
        for (int i = 0; i < CAPACITIES.length; i++) {
            long from = begin + (i * PHASE + 10) * SECOND;
            long to = begin + (i + 1) * PHASE * SECOND;
            List<Long> times = List.copyOf(runs).stream()
                    .filter(run -> run.end >= from && run.end < to)
                    .map(Run::time)
                    .sorted()
                    .toList();
            double share = times.size() / (double) (CAPACITIES[i] * 10 * (PHASE - 10));
            long last = times.get(times.size() * 99 / 100);
            System.out.printf(
                    "capacity %d: %.1f %% of the best number after 10 s, 99th percentile of the runs %.0f ms%n",
                    CAPACITIES[i], 100 * share, last / 1e6);
            found &= share >= 0.9 && last <= 2 * 1.5 * RUN; // with the best number it is that of the work, 1.5 x RUN
        }
        return pauses.ending(found);
    }

    /** 100 calls per second need half of the permits. A machine that is too busy to do the work in its time may try again. */
    @Test
    @Tag("slow")
    @Tag("one-jdk")
    void theyKeepTheNumberWhileHalfOfItIsUsed() {
        Tries.onePasses(10, this::keepTheNumber);
    }

    /** A run that took longer than its work shows that the machine was too busy. */
    private Tries.Ending keepTheNumber() {
        runs.clear();
        test.limit("partner").resize(20);
        TaskSpec spec = test.engine.spec("Shop.price", "partner");
        long begin = System.nanoTime();
        for (int call = 0; call < 1_000; call++) {
            awaitMoment(begin + call * (SECOND / 100));
            submit(spec);
        }
        TestEngine.awaitIdle(test);
        int permits = test.limit("partner").permits();
        boolean isBusy = runs.stream().anyMatch(run -> run.time > 1.5 * RUN + SECOND / 50);
        assertThat(isBusy || permits == 20).as("%d permits in time", permits).isTrue();
        return permits == 20 ? Tries.Ending.PASSED : Tries.Ending.BUSY;
    }

    /** Also by runs of limits within it. A call that never ran tells nothing. */
    @Test
    void aGoalThatNoRunReachesIsReportedOnce() throws Exception {
        TaskSpec spec = test.engine.spec("Shop.price", "inner");
        for (int i = 0; i < 500; i++) {
            test.engine.submit(spec, () -> null).get(2, TimeUnit.MINUTES);
        }

        assertThat(test.limit("strict").permits()).isEqualTo(4);
        assertThat(test.limit("inner").permits()).isEqualTo(5);
        assertThat(log.events)
                .singleElement()
                .asString()
                .contains(
                        "Limit 'strict' stays at its least of 4 permits: 20 of its last 20 runs took longer than 0.000000001s."
                                + " Is run-time shorter than an idle partner needs?");
    }

    @Test
    void aNumberOfOnesOwnIsOneWithinTheBounds() {
        test.limit("partner").resize(30);

        assertThat(test.limit("partner").permits()).isEqualTo(30);
        assertThatThrownBy(() -> test.limit("partner").resize(81))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Limit 'partner': permits must be from adapt.least to adapt.most, which is from 4 to 80, was 81");
    }

    private static void awaitMoment(long moment) {
        for (long left = 1; left > 0; left = moment - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private void submit(TaskSpec spec) {
        double work = RUN * (0.5 + random.nextDouble());
        test.engine.submit(spec, () -> work(work));
    }

    private @Nullable Object work(double work) {
        inside.incrementAndGet();
        long begin = System.nanoTime();
        long last = begin;
        for (double left = work; left > 0; ) {
            double speed = Math.min(1, (double) capacity / inside.get());
            long step = Math.min(STEP, (long) (left / speed));
            LockSupport.parkNanos(step);
            long now = System.nanoTime();
            pauses.add(step, now - last);
            left -= (now - last) * speed;
            last = now;
        }
        inside.decrementAndGet();
        runs.add(new Run(last, last - begin));
        return null;
    }
}
