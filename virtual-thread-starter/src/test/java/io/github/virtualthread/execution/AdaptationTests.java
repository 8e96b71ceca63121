package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.Adapt;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.util.function.SingletonSupplier;

/** What ends of calls do to the permits of limits. How the number is found is tested with {@link Rounds}. */
@Timeout(300)
@Tag("jdk")
class AdaptationTests {

    /** Every run is shorter. */
    private static final Duration NEVER_MISSED = Duration.ofHours(1);

    /** Every run is longer. */
    private static final Duration NEVER_REACHED = Duration.ofMillis(1);

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
            LimitSettings.of("partner", 4).withAdapt(new Adapt(4, 80, NEVER_MISSED)),
            LimitSettings.of("strict", 5).withAdapt(new Adapt(4, 80, NEVER_REACHED)),
            LimitSettings.of("inner", 5).withWithin("strict"));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(TaskLimits.class);

    private final Supplier<Adaptation> adaptation = SingletonSupplier.of(() -> new Adaptation(test.limits));

    /** A round has 20 ends, and at each of the first 60 somebody waits. */
    @Test
    void aLimitWhoseCallsWaitAndReachTheGoalGrows() {
        CountDownLatch release = test.latch();
        for (int i = 0; i < 100; i++) {
            test.submit("partner", () -> {
                release.await();
                return null;
            });
        }

        release.countDown();
        TestEngine.awaitIdle(test);

        assertThat(test.limit("partner").permits()).isBetween(4 + 60 / 20, 4 + 100 / 20);
        assertThat(log.events).as("changes").isEmpty();
    }

    @Test
    void aLimitOfWhichNobodyWaitsStaysAsItIs() throws Exception {
        for (int i = 0; i < 100; i++) {
            test.submit("partner", () -> null).get(2, TimeUnit.MINUTES);
        }

        assertThat(test.limit("partner").permits()).isEqualTo(4);
    }

    /** Also by runs of limits within it. The wait of a call, which is short here, does not count. */
    @Test
    void aGoalThatNoRunReachesIsReportedOnce() throws Exception {
        TaskSpec spec = test.engine.spec("Shop.price", "inner");
        for (int i = 0; i < 500; i++) {
            test.engine.submit(spec, AdaptationTests::takesLonger).get(2, TimeUnit.MINUTES);
        }

        assertThat(test.limit("strict").permits()).isEqualTo(4);
        assertThat(test.limit("inner").permits()).isEqualTo(5);
        assertThat(log.events)
                .singleElement()
                .asString()
                .contains(
                        "Limit 'strict' stays at its least of 4 permits: 20 of its last 20 runs took longer than 0.001s,"
                                + " and 0 of these were stopped by their timeout or deadline. Its partner is slow, or run-time is shorter"
                                + " than an idle partner needs.");
    }

    private static @Nullable Object takesLonger() {
        long begin = System.nanoTime();
        while (System.nanoTime() - begin <= NEVER_REACHED.toNanos()) {
            Thread.onSpinWait();
        }
        return null;
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
}
