package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.awaitIdle;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The window between the first look at a body and its start is a few instructions wide: it takes many calls to meet it. */
@Timeout(300)
@Tag("jdk")
class CancelRaceTests {

    private static final int CALLS = 50_000;

    private final Counter counter = new Counter();

    @RegisterExtension
    private final TestEngine test = new TestEngine(counter, LimitSettings.of("db", 4));

    private final CountDownLatch never = test.latch();

    @Test
    void aCancelThatMeetsTheStartEitherPreventsOrInterruptsTheBody() {
        for (int i = 0; i < CALLS; i++) {
            CompletableFuture<?> call = test.submit("db", () -> {
                never.await();
                return null;
            });
            for (int spin = i % 100; spin > 0; spin--) {
                Thread.onSpinWait();
            }
            call.cancel(true);
        }

        awaitIdle(test);
        assertThat(counter.submitted).hasValue(CALLS);
        assertThat(counter.ended).hasValue(CALLS);
        assertThat(counter.running).hasValue(0);
        assertThat(test.limit("db").available()).isEqualTo(4);
    }

    private static final class Counter implements TaskListener {

        final AtomicInteger submitted = new AtomicInteger();
        final AtomicInteger running = new AtomicInteger();
        final AtomicInteger ended = new AtomicInteger();

        @Override
        public void submitted(TaskCall call) {
            submitted.incrementAndGet();
        }

        @Override
        public void started(TaskCall call) {
            running.incrementAndGet();
        }

        @Override
        public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
            if (call.isStarted()) {
                running.decrementAndGet();
            }
            ended.incrementAndGet();
        }

        @Override
        public void rejected(TaskCall call, LimitExceededException rejection) {
            ended.incrementAndGet();
        }
    }
}
