package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.Adapt;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Three times as many calls as a limit can do, on the real engine. How much is done in time is told exactly by the tests on a virtual clock;
 * the bound here is for a busy machine, on which the runs themselves take longer. Without the rule for keys it was 0.2 %.
 */
@Timeout(600)
@Tag("slow")
@Tag("jdk")
class HopelessOverloadTests {

    private static final int PERMITS = 20;
    private static final Duration RUN = Duration.ofMillis(20);
    private static final Duration DEADLINE = Duration.ofMillis(400);
    private static final int SECONDS = 4;
    private static final int CAPACITY = (int) (PERMITS * SECONDS * 1000 / RUN.toMillis());

    enum Calls {
        WITHOUT_KEYS("plain", call -> null),
        WITH_FOUR_KEYS("plain", call -> "key " + call % 4),
        WITH_A_THOUSAND_KEYS("plain", call -> "key " + call % 1000),
        ONE_IN_TEN_WITH_A_KEY("plain", call -> call % 10 == 0 ? "key " + call % 50 : null),
        WITH_A_BOUND_FOR_EACH_KEY("bounded", call -> "key " + call % 50),
        OF_AN_INNER_LIMIT("inner", call -> null),
        OF_A_LIMIT_THAT_ADAPTS("adapting", call -> null);

        private final String limit;
        private final IntFunction<@Nullable String> key;

        Calls(String limit, IntFunction<@Nullable String> key) {
            this.limit = limit;
            this.key = key;
        }
    }

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("plain", PERMITS).withRejectHopeless(true),
            LimitSettings.of("bounded", PERMITS).withPermitsPerKey(2).withRejectHopeless(true),
            LimitSettings.of("inner", PERMITS).withWithin("around").withRejectHopeless(true),
            LimitSettings.of("around", 10 * PERMITS),
            LimitSettings.of("adapting", PERMITS).withAdapt(new Adapt(PERMITS, 4 * PERMITS, RUN.multipliedBy(100))));

    @ParameterizedTest
    @EnumSource
    void muchOfTheCapacityIsDoneInTime(Calls calls) {
        LongAdder inTime = new LongAdder();
        Random random = new Random(7);
        TaskSpec spec = test.engine.spec("Test.call", calls.limit, null, DEADLINE);
        long begin = System.nanoTime();
        for (int call = 0; call < 3 * CAPACITY; call++) {
            String key = calls.key.apply(random.nextInt(1_000_000));
            long due = System.nanoTime() + DEADLINE.toNanos();
            var unused = test.engine.submit(key == null ? spec : test.engine.keyed(spec, key), () -> {
                LockSupport.parkNanos(RUN.toNanos());
                if (due - System.nanoTime() >= 0) {
                    inTime.increment();
                }
                return null;
            });
            long next = begin + (call + 1) * (TimeUnit.SECONDS.toNanos(SECONDS) / (3 * CAPACITY));
            LockSupport.parkNanos(next - System.nanoTime());
        }
        double seconds = (System.nanoTime() - begin) / 1e9;
        TestEngine.awaitIdle(test);

        double share = inTime.sum() * (double) SECONDS / seconds / CAPACITY;
        System.out.printf("%s: %.0f %% of the capacity in time, by the real engine%n", calls, 100 * share);
        assertThat(share).isGreaterThanOrEqualTo(0.5);
    }
}
