package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.PermitRequest;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import io.github.virtualthread.timer.TimerEntries;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A call that could not expire, since the timer of its limit gets no thread, does not wait. */
@Timeout(300)
@Tag("jdk")
class TimerFailureTests {

    private final TaskTimer timer = TimerEntries.withoutThread();
    private final TaskLimits limits =
            new TaskLimits(List.of(LimitSettings.of("db", 1).withMaxWait(Duration.ofMinutes(1))), timer, change -> {});
    private final Ends ends = new Ends();
    private final TaskEngine engine = new TaskEngine(
            limits,
            ContextPropagation.none(),
            timer,
            new TaskThreads("vt-", TimerFailureTests.class.getClassLoader()),
            new CallExtensions(() -> List.of(ends), List::of),
            false);
    private final CountDownLatch release = new CountDownLatch(1);
    private @Nullable CompletableFuture<?> holder;

    @BeforeEach
    void holdThePermit() {
        CountDownLatch running = new CountDownLatch(1);
        holder = engine.submit(engine.spec("Test.holder", "db"), () -> {
            running.countDown();
            release.await();
            return null;
        });
        TestEngine.await(running);
    }

    @AfterEach
    void close() {
        release.countDown();
        engine.close();
        timer.close();
    }

    @Test
    void theFutureOfATaskTellsWhy() {
        CompletableFuture<?> refused = engine.submit(engine.spec("Test.task", "db"), () -> "ran");

        assertThat(refused)
                .failsWithin(Duration.ofMinutes(2))
                .withThrowableThat()
                .withCauseInstanceOf(OutOfMemoryError.class);
        assertThat(ends.heard).containsExactly("Test.task ERROR OutOfMemoryError");
        assertNobodyIsLeft();
    }

    @Test
    void aCallOnTheOwnThreadThrowsIt() {
        TaskSpec spec = engine.spec("Test.call", "db");

        assertThatThrownBy(() -> engine.call(spec, () -> "ran")).isInstanceOf(OutOfMemoryError.class);
        assertThat(ends.heard).containsExactly("Test.call ERROR OutOfMemoryError");
        assertNobodyIsLeft();
    }

    @Test
    void aTaskWithADeadlineDoesNotRunWithoutOne() {
        TaskSpec late = engine.spec("Test.late", null, null, Duration.ofMinutes(1));

        assertThat(engine.submit(late, () -> "ran"))
                .failsWithin(Duration.ofMinutes(2))
                .withThrowableThat()
                .withCauseInstanceOf(OutOfMemoryError.class);
        assertThat(ends.heard).containsExactly("Test.late ERROR OutOfMemoryError");
        assertNobodyIsLeft();
    }

    private void assertNobodyIsLeft() {
        assertThat(PermitRequest.waiting(limits.get("db"), 1)).isEqualTo(List.<PermitRequest>of());
        release.countDown();
        assertThat(holder).succeedsWithin(Duration.ofMinutes(2));
        assertThat(limits.get("db").available()).isEqualTo(1);
        assertThat(awaitIdle()).isTrue();
    }

    private boolean awaitIdle() {
        try {
            return engine.awaitIdle(Duration.ofMinutes(2));
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    private static final class Ends implements TaskListener {

        final List<String> heard = Collections.synchronizedList(new ArrayList<>());

        @Override
        public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
            if (failure != null) {
                heard.add("%s %s %s"
                        .formatted(
                                call.spec().name(), outcome, failure.getClass().getSimpleName()));
            }
        }
    }
}
