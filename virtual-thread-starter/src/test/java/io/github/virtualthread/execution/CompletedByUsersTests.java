package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** What users do with a future changes what they see of it, not what becomes of the permit. */
@Timeout(300)
@Tag("jdk")
class CompletedByUsersTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch release = test.latch();

    static Stream<Named<Consumer<CompletableFuture<@Nullable Object>>>> endings() {
        return Stream.of(
                Named.of("cancel(true)", future -> future.cancel(true)),
                Named.of("cancel(false)", future -> future.cancel(false)),
                Named.of("complete", future -> future.complete("mine")),
                Named.of("completeExceptionally", future -> future.completeExceptionally(new IOException())),
                Named.of("obtrudeValue", future -> future.obtrudeValue("mine")),
                Named.of("obtrudeException", future -> future.obtrudeException(new IOException())),
                Named.of("orTimeout", future -> future.orTimeout(1, TimeUnit.MILLISECONDS)),
                Named.of("completeOnTimeout", future -> future.completeOnTimeout("mine", 1, TimeUnit.MILLISECONDS)),
                Named.of("completeAsync", future -> future.completeAsync(() -> "mine")));
    }

    @ParameterizedTest
    @MethodSource("endings")
    void whoIsEndedBeforeItsTurnLeavesTheQueueAndNeverRuns(Consumer<CompletableFuture<@Nullable Object>> ending) {
        test.hold("db", release);
        AtomicBoolean ran = new AtomicBoolean();
        CompletableFuture<@Nullable Object> ended = test.submit("db", () -> {
            ran.set(true);
            return null;
        });
        AtomicReference<@Nullable Integer> waiting = new AtomicReference<>();
        CompletableFuture<?> told = ended.whenComplete(
                (value, failure) -> waiting.set(test.limit("db").waiting()));

        ending.accept(ended);
        assertThat(told.handle((value, failure) -> "told")).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(waiting).as("the place in the queue is free at once").hasValue(0);
        release.countDown();

        assertThat(test.submit("db", () -> "next")).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(ran).isFalse();
    }

    @ParameterizedTest
    @MethodSource("endings")
    void whoIsEndedWhileItRunsKeepsItsPermitUntilTheBodyEnds(Consumer<CompletableFuture<@Nullable Object>> ending) {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<@Nullable Object> ended = test.submit("db", () -> {
            running.countDown();
            TestEngine.awaitStubbornly(release);
            return null;
        });
        await(running);

        ending.accept(ended);
        assertThat(ended.handle((value, failure) -> "told")).succeedsWithin(2, TimeUnit.MINUTES);
        CompletableFuture<?> next = test.submit("db", () -> "next");
        assertThat(test.limit("db").available()).isZero();
        assertThat(test.limit("db").waiting()).isEqualTo(1);
        assertThat(next).isNotDone();
        release.countDown();

        assertThat(next).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void theUsersOwnOutcomeStays() {
        CompletableFuture<@Nullable Object> future = test.hold("db", release);
        future.orTimeout(1, TimeUnit.MILLISECONDS);
        assertThatThrownBy(future::join).hasCauseInstanceOf(TimeoutException.class);

        release.countDown();
        TestEngine.awaitIdle(test); // now the body's own outcome has come too

        assertThat(future.exceptionNow()).isInstanceOf(TimeoutException.class);
    }

    @Test
    void whoCompletesIsToldWhetherNobodyDidBefore() {
        CompletableFuture<@Nullable Object> completed = test.hold("db", release);
        CompletableFuture<@Nullable Object> failed = test.submit("db", () -> null);
        CompletableFuture<@Nullable Object> cancelled = test.submit("db", () -> null);

        assertThat(completed.complete("mine")).isTrue();
        assertThat(completed.complete("again")).isFalse();
        assertThat(completed.cancel(true)).isFalse();
        assertThat(failed.completeExceptionally(new IOException())).isTrue();
        assertThat(failed.completeExceptionally(new IOException())).isFalse();
        assertThat(cancelled.cancel(false)).isTrue();
        assertThat(cancelled.cancel(false)).as("it is").isTrue();
        assertThat(cancelled.completeAsync(() -> "late")).isSameAs(cancelled);
    }

    @ParameterizedTest
    @MethodSource("failures")
    void completeAsyncFailsAsThatOfTheJdkDoes(Throwable thrown) {
        CompletableFuture<@Nullable Object> ours = test.hold("db", release);
        CompletableFuture<@Nullable Object> theirs = new CompletableFuture<>();
        List<Throwable> seen = new ArrayList<>();
        for (CompletableFuture<@Nullable Object> future : List.of(ours, theirs)) {
            future.completeAsync(
                    () -> {
                        throw CompletedByUsersTests.<RuntimeException>sneak(thrown);
                    },
                    Runnable::run);
            future.whenComplete((value, failure) -> seen.add(failure));
        }

        assertThat(seen.get(0))
                .hasSameClassAs(seen.get(1))
                .hasMessage(seen.get(1).getMessage());
        assertThat(ours.exceptionNow()).isSameAs(theirs.exceptionNow());
        assertThat(ours.state()).isEqualTo(theirs.state());
    }

    static Stream<Throwable> failures() {
        return Stream.of(
                new IllegalStateException("mine"),
                new AssertionError("mine"),
                new CancellationException("mine"),
                new CompletionException(new IOException("mine")));
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> T sneak(Throwable failure) throws T {
        throw (T) failure;
    }

    @Test
    void completeAsyncTakesNoNull() {
        CompletableFuture<@Nullable Object> future = test.hold("db", release);

        assertThatThrownBy(() -> future.completeAsync(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> future.completeAsync(() -> "mine", null)).isInstanceOf(NullPointerException.class);
        assertThat(future).isNotDone();
    }

    @Test
    void noFailureAtAllIsRefusedAndChangesNothing() {
        test.hold("db", release);
        CompletableFuture<@Nullable Object> waiting = test.submit("db", () -> "ran");

        assertThatThrownBy(() -> waiting.completeExceptionally(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> waiting.obtrudeException(null)).isInstanceOf(NullPointerException.class);
        release.countDown();

        assertThat(waiting).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
    }
}
