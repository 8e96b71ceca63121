package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.Late.LONG;
import static io.github.virtualthread.execution.Late.SOON;
import static io.github.virtualthread.execution.Late.assertRefused;
import static io.github.virtualthread.execution.Late.assertThrowsRefusal;
import static io.github.virtualthread.execution.Late.overdue;
import static io.github.virtualthread.execution.Late.valueOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Deadlines with keys, and with permits that a thread holds already. Any two ways to share a limit meet in {@link SharingStressTests}. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD)
@Tag("jdk")
class DeadlineSharingTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 1),
            LimitSettings.of("report", 1).withWithin("db"),
            LimitSettings.of("partner", 2).withPermitsPerKey(1).withQueueCapacityPerKey(1),
            LimitSettings.of("turns", 1).withPermitsPerKey(1));

    private final VirtualThreads threads = new VirtualThreads(test.engine, (name, failure) -> {});
    private final CountDownLatch release = test.latch();

    @AfterEach
    void nothingIsLeft() {
        release.countDown();
        Late.awaitNoneInTimer(test);
        test.assertAllPermitsAreBack();
    }

    private CompletableFuture<@Nullable Object> submit(String limit, @Nullable String key, Duration deadline) {
        TaskSpec spec = Late.spec(test, limit, deadline);
        return test.engine.submit(key == null ? spec : test.engine.keyed(spec, key), () -> "ran");
    }

    @Test
    void aCallWithAKeyMakesRoomInTheQueueOfItsKey() throws Exception {
        KeyedVirtualThreads acme = threads.forKey("acme");
        CompletableFuture<?> held = acme.submit("partner", this::held);
        awaitRunning("partner");
        CompletableFuture<?> late = submit("partner", "acme", SOON);
        assertRefused(late);

        assertThat(test.limit("partner").key("acme").waiting()).isZero();
        CompletableFuture<?> next = acme.submit("partner", () -> "next"); // its queue has one place
        assertThat(threads.forKey("other").call("partner", () -> "other")).isEqualTo("other");
        assertThrowsRefusal(() -> Deadline.call(SOON, () -> threads.forKey("late")
                .call("turns", () -> Late.overdue(() -> threads.forKey("late").call("turns", () -> "re-entered")))));
        release.countDown();
        assertThat(valueOf(held)).isEqualTo("held");
        assertThat(valueOf(next)).isEqualTo("next");
    }

    private String held() throws InterruptedException {
        release.await();
        return "held";
    }

    private void awaitRunning(String limit) {
        while (test.engine.liveCalls().running(test.limit(limit)).isEmpty()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void aRefusalSaysWhoseKeyItWas() throws Exception {
        test.hold("turns", release);

        assertThat(Late.failureOf(submit("turns", "acme", SOON)))
                .isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.key())
                        .isEqualTo("acme"))
                .hasMessageContaining("key 'acme' has 0 running");
    }

    @Test
    void aCallUnderTheLimitWithinWaitsUntilItsDeadlineWhileItsThreadHoldsTheOneAround() throws Exception {
        test.hold("report", release);
        test.limit("db").resize(2);

        Throwable failure = catchThrowable(
                () -> threads.call("db", () -> Deadline.call(SOON, () -> threads.call("report", () -> "ran"))));

        assertRefused(failure);
        test.limit("db").resize(1);
    }

    @Test
    void reentryTakesNoPermitAndKeepsTheDeadline() throws Exception {
        Duration left = threads.call(
                "report",
                () -> Deadline.call(
                        LONG,
                        () -> threads.call(
                                "db",
                                () -> threads.call(
                                        "report", () -> Deadline.remaining().orElseThrow()))));

        assertThat(left).isPositive().isLessThan(LONG);
    }

    @Test
    void tasksThatBorrowThePermitOfTheirCallerEndInTime() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        Callable<Object> counting = ran::incrementAndGet;
        Callable<Object> blocking = () -> {
            ran.incrementAndGet();
            test.latch().await();
            return "ran";
        };

        assertThat(Deadline.call(
                        LONG, () -> threads.call("db", () -> threads.all("db", Collections.nCopies(20, counting)))))
                .hasSize(20);
        Throwable failure = catchThrowable(() -> threads.call(
                "db", () -> Deadline.call(SOON, () -> threads.all("db", List.of(blocking, counting, counting)))));
        if (failure instanceof LimitExceededException) { // none of them, or one behind that which has the permit
            assertRefused(failure);
        } else {
            assertThat(failure).hasMessageContaining("past its caller's deadline");
        }
        assertThrowsRefusal(() -> threads.call("db", () -> overdue(() -> threads.all("db", List.of(counting)))));
        assertThat(ran.get()).isBetween(20, 21 + 2);
        assertThat(Deadline.call(LONG, () -> threads.call("db", () -> threads.anySuccessful("db", List.of(counting)))))
                .isNotNull();
    }
}
