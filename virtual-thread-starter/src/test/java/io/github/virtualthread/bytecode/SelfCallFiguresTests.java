package io.github.virtualthread.bytecode;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What it costs at the start to look for calls that objects make to themselves. */
@Timeout(300)
@Tag("benchmark")
class SelfCallFiguresTests {

    private static final int ROUNDS = 200;

    /** The best round counts: the machine may do something else. The first one has cold code and is printed alone. */
    @Test
    void tenAnnotatedClassesTakeAMillisecondAtMost() {
        List<Class<?>> types = Stream.of(SelfCallsTests.class, InheritedSelfCallsTests.class)
                .<Class<?>>flatMap(test -> Arrays.stream(test.getDeclaredClasses()))
                .filter(type -> !FoundSelfCalls.annotated(List.of(type)).isEmpty())
                .toList();
        assertThat(types).hasSizeGreaterThan(10);

        Duration first = timeOfTen(types);
        Duration best = first;
        for (int round = 0; round < ROUNDS; round++) {
            Duration time = timeOfTen(types);
            best = time.compareTo(best) < 0 ? time : best;
        }

        System.out.printf(
                "microseconds for 10 of %d annotated classes: first %d, best %d%n",
                types.size(), first.toNanos() / 1_000, best.toNanos() / 1_000);
        assertThat(best).isLessThanOrEqualTo(Duration.ofMillis(1));
    }

    private Duration timeOfTen(List<Class<?>> types) {
        SelfCalls calls = new SelfCalls(); // reads each file anew
        int found = 0;
        long begin = System.nanoTime();
        for (Class<?> type : types) {
            found += FoundSelfCalls.in(calls, type).size();
        }
        long time = System.nanoTime() - begin;
        assertThat(found).isPositive();
        return Duration.ofNanos(time * 10 / types.size());
    }
}
