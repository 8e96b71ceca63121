package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Nested calls in the state that matters, and code that runs on a task's thread after its permit is back. */
@Timeout(300)
@Tag("jdk")
class NestedDeadlockTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 2),
            LimitSettings.of("strict", 2).withNested(Nested.FAIL),
            LimitSettings.of("single", 1).withNested(Nested.FAIL),
            LimitSettings.of("full", 1).withNested(Nested.FAIL).withQueueCapacity(0));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(PermitHolders.class);

    private final CountDownLatch release = test.latch();

    /** Two bodies that hold both permits, and then ask for another one each. */
    private List<CompletableFuture<@Nullable Object>> twoThatAskForMore(String limit) {
        CountDownLatch bothHold = new CountDownLatch(2);
        return Stream.of("Outer.a", "Outer.b")
                .map(name -> test.engine.submit(test.engine.spec(name, limit), () -> {
                    bothHold.countDown();
                    await(bothHold);
                    return test.engine
                            .submit(test.engine.spec("Inner.c", limit), () -> "ran")
                            .get();
                }))
                .toList();
    }

    @Test
    void withAWarningNestedCallsWaitForEachOtherUntilOneIsCancelled() throws Exception {
        List<CompletableFuture<@Nullable Object>> outer = twoThatAskForMore("db");

        assertThat(log.next()).isNotNull();
        assertThat(log.next()).isNotNull();
        Caller.awaitWaiting(test, "db", 2);
        assertThat(test.limit("db").available()).isZero();
        assertThat(outer).noneMatch(CompletableFuture::isDone);

        outer.get(0).cancel(true);

        assertThat(outer.get(1)).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
        TestEngine.awaitIdle(test);
        assertThat(test.limit("db").available()).isEqualTo(2);
    }

    @Test
    void whereNestedCallsFailNobodyWaitsForAnother() {
        List<CompletableFuture<@Nullable Object>> outer = twoThatAskForMore("strict");

        List<@Nullable Throwable> failures = outer.stream()
                .map(each -> each.handle((value, failure) -> failure)
                        .orTimeout(2, TimeUnit.MINUTES)
                        .join())
                .toList();
        // the one that is refused gives its permit back, and the other one may come after that
        assertThat(failures).filteredOn(Objects::nonNull).isNotEmpty().allSatisfy(failure -> assertThat(failure)
                .hasCauseInstanceOf(LimitExceededException.class));
        TestEngine.awaitIdle(test);
        assertThat(test.limit("strict").available()).isEqualTo(2);
        assertThat(log.events).isEmpty();
    }

    @Test
    void aContinuationHoldsNoPermitSoThatItsCallsAreNotNested() {
        CountDownLatch go = new CountDownLatch(1);
        AtomicReference<@Nullable CompletableFuture<?>> held = new AtomicReference<>();
        CompletableFuture<CompletableFuture<?>> inner = test.submit("single", () -> {
                    await(go);
                    return null;
                })
                .thenApply(value -> {
                    held.set(test.hold("single", release));
                    return test.submit("single", () -> "ran");
                });

        go.countDown();

        assertThat(inner).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(inner.join()).isNotDone();
        release.countDown();
        assertThat(inner.join()).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
        assertThat(held.get()).isNotNull();
    }

    @Test
    void theHandlerOfARefusedCallHoldsNoPermitSoThatItsCallsAreNotNested() {
        test.hold("full", release);
        test.limit("full").setQueueCapacity(1);
        CompletableFuture<CompletableFuture<?>> retried = new CompletableFuture<>();
        test.limit("full").setMaxWait(Duration.ofMillis(20));
        test.engine.execute(test.engine.spec("Mailer.send", "full"), () -> null, (task, refusal) -> {
            test.limit("full").setMaxWait(null);
            retried.complete(test.submit("full", () -> "ran"));
        });

        assertThat(retried).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(retried.join()).isNotDone();
        release.countDown();
        assertThat(retried.join()).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
    }
}
