package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.virtualthread.limit.RecordedCalls.Numbers;
import io.github.virtualthread.limit.ShadowQueue.ShadowCall;
import io.github.virtualthread.limit.TaskLimit.Shadow;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A shadow does what a real limit does to the same calls: each waits as long, or is rejected. */
@Timeout(300)
class ShadowQueueTests extends TimedLimits {

    private static final int PERMITS = 20;
    private static final double CAPACITY = PERMITS / 0.1;
    private static final long NONE = Long.MAX_VALUE;
    private static final int UNBOUNDED = LimitSettings.UNBOUNDED;
    private static final LimitSettings SETTINGS = LimitSettings.of("db", PERMITS);

    private static final List<ToDoubleFunction<Random>> WORK =
            List.of(Overload.EXPONENTIAL, Overload.CONSTANT, Overload.TWO_KINDS);

    /** Load of the number itself, and what the limit is set to. */
    static Stream<Arguments> scenarios() {
        long maxWait = TimeUnit.MILLISECONDS.toNanos(300);
        List<Numbers> numbers = List.of(
                new Numbers(PERMITS, UNBOUNDED, NONE, PERMITS),
                new Numbers(PERMITS, 30, NONE, PERMITS),
                new Numbers(PERMITS, 0, NONE, PERMITS),
                new Numbers(PERMITS, UNBOUNDED, maxWait, PERMITS),
                new Numbers(PERMITS, 80, maxWait, PERMITS),
                new Numbers(PERMITS, UNBOUNDED, NONE, 33),
                new Numbers(PERMITS, 30, maxWait, 7));
        return Stream.of(0.3, 0.7, 0.95, 1.1, 2.0)
                .flatMap(load -> numbers.stream().map(each -> Arguments.of(load, each)));
    }

    @ParameterizedTest
    @MethodSource("scenarios")
    void eachCallWaitsAsLongAsUnderARealLimit(double load, Numbers numbers) {
        compare(load, numbers, 5_000, Overload.TWO_KINDS);
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("scenarios")
    void eachOfManyCallsWaitsAsLongAsUnderARealLimit(double load, Numbers numbers) {
        for (ToDoubleFunction<Random> work : WORK) {
            compare(load, numbers, 100_000, work);
        }
    }

    private void compare(double load, Numbers same, int number, ToDoubleFunction<Random> work) {
        RecordedCalls calls = new RecordedCalls(number, load * CAPACITY, work, 7);
        for (Numbers numbers : List.of(same.half(), same, same.twice())) {
            ShadowQueue shadow = new ShadowQueue(0);
            long[] inShadow = calls.inShadow(shadow, numbers);
            SemaphoreLimit limit =
                    semaphore(LimitSettings.of("db", numbers.permits()).withQueueCapacity(numbers.queueCapacity()));
            long[] really = calls.underLimit(limit, numbers);

            long[] waits = waits(calls, really);
            Shadow state = shadow.state();
            System.out.printf(
                    "load %s of %d permits, %s: waited %d, rejected %d, median %.3f/%.3f ms, p99 %.3f/%.3f ms, longest %.3f/%.3f ms, %d of %d calls differ%n",
                    load,
                    same.permits(),
                    numbers,
                    state.waited(),
                    state.rejected(),
                    state.median().toNanos() / 1e6,
                    at(waits, 0.5) / 1e6,
                    state.p99().toNanos() / 1e6,
                    at(waits, 0.99) / 1e6,
                    state.longest().toNanos() / 1e6,
                    at(waits, 1) / 1e6,
                    IntStream.range(0, number)
                            .filter(i -> really[i] != inShadow[i])
                            .count(),
                    number);
            assertThat(inShadow).as("%s", numbers).isEqualTo(really);
            assertThat(state.calls()).isEqualTo(number);
            assertThat(state.begun()).isEqualTo(waits.length);
            assertThat(state.rejected()).isEqualTo(number - waits.length);
            assertThat(state.beyond()).isZero();
            assertThat(state.total().toNanos()).isEqualTo(LongStream.of(waits).sum());
            assertThat(state.longest().toNanos()).isEqualTo((long) at(waits, 1));
            assertAlike(state.median(), at(waits, 0.5));
            assertAlike(state.p99(), at(waits, 0.99));
        }
    }

    /** Of those that began, in ascending order. */
    private static long[] waits(RecordedCalls calls, long[] begun) {
        return IntStream.range(0, begun.length)
                .filter(i -> begun[i] != RecordedCalls.NEVER)
                .mapToLong(i -> begun[i] - calls.came[i])
                .sorted()
                .toArray();
    }

    private static double at(long[] waits, double part) {
        return waits.length == 0 ? 0 : waits[Math.max(0, (int) Math.ceil(part * waits.length) - 1)];
    }

    private static void assertAlike(Duration counted, double nanos) {
        assertThat((double) counted.toNanos()).isCloseTo(nanos, within(Math.max(2_000, nanos * 0.02)));
    }

    /** Calls of 0.1 s on average, 160 a second, as the page says. */
    @Test
    void thePageHasTheRowsOfARealCase() throws IOException {
        RecordedCalls calls = new RecordedCalls(100_000, 160, Overload.EXPONENTIAL, 7);
        Numbers same = new Numbers(PERMITS, 100, NONE, PERMITS);

        assertThat(Files.readString(Path.of("../docs/limits.md")))
                .contains(row("half", calls, same.half())
                        + row("same", calls, same)
                        + row("double", calls, same.twice()));
    }

    private static String row(String name, RecordedCalls calls, Numbers numbers) {
        ShadowQueue shadow = new ShadowQueue(0);
        calls.inShadow(shadow, numbers);
        Shadow state = shadow.state();
        return "| `%s` | %d | %d | %.4f | %.3f | %.3f | %.3f | %d | %d |\n"
                .formatted(
                        name,
                        state.permits(),
                        state.calls(),
                        (double) state.waited() / state.calls(),
                        state.median().toNanos() / 1e9,
                        state.p99().toNanos() / 1e9,
                        state.longest().toNanos() / 1e9,
                        state.rejected(),
                        state.mostWaiting());
    }

    @Test
    void aQueueThatIsTooLongLeavesCallsOut() {
        ShadowQueue shadow = new ShadowQueue(0);
        shadow.resize(1, SETTINGS, 0);
        for (int i = 0; i < ShadowQueue.MOST_WAITING + 11; i++) {
            shadow.come(new ShadowCall(i), i);
        }

        Shadow state = shadow.state();
        assertThat(state.waited()).isEqualTo(ShadowQueue.MOST_WAITING + 10);
        assertThat(state.beyond()).isEqualTo(10);
        assertThat(state.mostWaiting()).isEqualTo(ShadowQueue.MOST_WAITING);
        assertThat(state.rejected()).isZero();
    }

    @Test
    void aShorterWaitAppliesToThoseThatWait() {
        ShadowQueue shadow = new ShadowQueue(0);
        shadow.resize(1, SETTINGS, 0);
        Arrays.asList(0L, 1L, 50L).forEach(came -> shadow.come(new ShadowCall(came), came));
        shadow.resize(1, SETTINGS.withMaxWait(Duration.ofNanos(60)), 70);

        assertThat(shadow.state().rejected()).isOne();
    }
}
