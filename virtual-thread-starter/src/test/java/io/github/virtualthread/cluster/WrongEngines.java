package io.github.virtualthread.cluster;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;

/** Engines that answer as none ought to, with what they do. */
final class WrongEngines {

    private WrongEngines() {}

    static Stream<Named<Supplier<ClusterEngine>>> all() {
        Answer answer = new Answer(5, 5, 0, 0, Duration.ZERO, 0, List.of(), null);
        return Stream.of(
                wrong("fails with an error", failing(new AssertionError("broken engine"))),
                wrong("needs too much stack", failing(new StackOverflowError())),
                wrong("needs too much memory", failing(new OutOfMemoryError("broken engine"))),
                wrong("interrupts its thread", claims -> {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException("interrupted");
                }),
                wrong("returns null", claims -> null),
                wrong("returns no answer", claims -> List.of()),
                wrong("returns an answer that is null", claims -> Arrays.asList((Answer) null)),
                wrong("returns too many answers", claims -> List.of(answer, answer)),
                wrong("is null", null),
                Named.of("cannot be made", () -> {
                    throw new IllegalStateException("no connection factory");
                }));
    }

    private static Named<Supplier<ClusterEngine>> wrong(String what, @Nullable ClusterEngine engine) {
        return Named.of(what, () -> engine);
    }

    private static ClusterEngine failing(Error error) {
        return claims -> {
            throw error;
        };
    }
}
