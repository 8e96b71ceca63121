package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.virtualthread.limit.LimitChange.Source;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a change tells, and to whom. */
@Timeout(300)
class LimitChangeTests extends TimedLimits {

    private static final LimitSettings DECLARED =
            LimitSettings.of("price-db", 20).withQueueCapacity(100);

    private final List<LimitChange> told = new ArrayList<>();
    private final TaskLimits limits = new TaskLimits(List.of(DECLARED), timer, told::add);
    private final TaskLimit limit = limits.get("price-db");

    private void assertTold(String line) {
        assertThat(told).extracting(LimitChange::toString).containsExactly(line);
    }

    private void assertRefused(ThrowingCallable change, String message) {
        assertThatIllegalArgumentException().isThrownBy(change).withMessage(message);
        assertThat(limit).hasToString("price-db (20 permits, queue of 100, unbounded wait)");
        assertThat(limit.permits()).isEqualTo(20);
        assertThat(limit.available()).isEqualTo(20);
        assertThat(told).isEmpty();
    }

    @Test
    void eachSetterTellsOldAndNewAndByWhom() {
        limit.resize(30);
        limit.setQueueCapacity(LimitSettings.UNBOUNDED);
        limit.setMaxWait(Duration.ofMillis(1500));
        limits.change(limit, now -> now.withNested(Nested.FAIL), Source.ENVIRONMENT);

        assertThat(told)
                .extracting(LimitChange::toString)
                .containsExactly(
                        "Limit 'price-db' changed by CODE: 20 permits, queue of 100, unbounded wait"
                                + " -> 30 permits, queue of 100, unbounded wait",
                        "Limit 'price-db' changed by CODE: 30 permits, queue of 100, unbounded wait"
                                + " -> 30 permits, unbounded queue, unbounded wait",
                        "Limit 'price-db' changed by CODE: 30 permits, unbounded queue, unbounded wait"
                                + " -> 30 permits, unbounded queue, wait up to 1.5s",
                        "Limit 'price-db' changed by ENVIRONMENT: 30 permits, unbounded queue, wait up to 1.5s"
                                + " -> 30 permits, unbounded queue, wait up to 1.5s, nested calls fail");
    }

    @Test
    void aChangeMayChangeTheSameLimitItself() {
        limits.change(
                limit,
                now -> {
                    limit.resize(10);
                    return now.withQueueCapacity(5);
                },
                Source.CODE);

        assertThat(limit).hasToString("price-db (10 permits, queue of 5, unbounded wait)");
        assertThat(limit.available()).isEqualTo(10);
        assertThat(told)
                .extracting(LimitChange::toString)
                .containsExactly(
                        "Limit 'price-db' changed by CODE: 20 permits, queue of 100, unbounded wait"
                                + " -> 10 permits, queue of 100, unbounded wait",
                        "Limit 'price-db' changed by CODE: 10 permits, queue of 100, unbounded wait"
                                + " -> 10 permits, queue of 5, unbounded wait");
    }

    @Test
    void callsGetTheirPermitsWhileAChangeIsWorkedOut() {
        limit.resize(1);
        limits.change(
                limit,
                now -> {
                    Call holder = Call.asked(limit);
                    CompletableFuture<Call> next = new CompletableFuture<>();
                    Thread.ofPlatform().daemon().start(() -> {
                        Call waiting = Call.asked(limit);
                        holder.giveBack();
                        next.complete(waiting);
                    });
                    assertThat(next).succeedsWithin(2, TimeUnit.MINUTES).matches(Call::holds);
                    return now.withQueueCapacity(5);
                },
                Source.CODE);

        assertThat(limit.queueCapacity()).isEqualTo(5);
    }

    @Test
    void noneOfTheChangesThatAreMadeAtOnceIsLost() throws Exception {
        TaskLimits limits = limits(DECLARED);
        CyclicBarrier start = new CyclicBarrier(4);
        try (ExecutorService threads = Executors.newCachedThreadPool()) {
            List<Future<?>> changing = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                changing.add(threads.submit(() -> {
                    start.await();
                    for (int change = 0; change < 1_000; change++) {
                        limits.change(limit, now -> now.withPermits(now.permits() + 1), Source.CODE);
                    }
                    return null;
                }));
            }
            for (Future<?> changed : changing) {
                changed.get();
            }
        }

        assertThat(limit.permits()).isEqualTo(4_020);
        assertThat(limit.available()).isEqualTo(4_020);
    }

    @Test
    void whoeverChangesSeveralThingsAtOnceIsToldOnce() {
        limits.change(
                limit,
                now -> now.withPermits(5).withQueueCapacity(7).withMaxWait(Duration.ofMinutes(1)),
                Source.ENVIRONMENT);

        assertTold("Limit 'price-db' changed by ENVIRONMENT: 20 permits, queue of 100, unbounded wait"
                + " -> 5 permits, queue of 7, wait up to 1m");
        assertThat(limit.permits()).isEqualTo(5);
        assertThat(limit.queueCapacity()).isEqualTo(7);
        assertThat(limit.maxWait()).isEqualTo(Duration.ofMinutes(1));
    }

    @ParameterizedTest
    @EnumSource(Source.class)
    void theSourceOfAChangeIsTold(Source source) {
        limits.change(limit, now -> now.withPermits(21), source);

        assertThat(told).singleElement().satisfies(change -> {
            assertThat(change.by()).isEqualTo(source);
            assertThat(change.limit()).isEqualTo("price-db");
            assertThat(change.before().permits()).isEqualTo(20);
            assertThat(change.after().permits()).isEqualTo(21);
            assertThat(change).asString().startsWith("Limit 'price-db' changed by " + source + ": ");
        });
    }

    @Test
    void aChangeFindsTheLimitInAnySpellingAndTellsTheNameItIsShownBy() {
        limits.showAs("priceDb");

        limits.change(limits.get("PRICEDB"), now -> now.withPermits(3), Source.ENDPOINT);

        assertThat(limit.permits()).isEqualTo(3);
        assertThat(limits.names()).containsExactly("priceDb");
        assertThat(told).singleElement().extracting(LimitChange::limit).isEqualTo("priceDb");
    }

    @Test
    void aLimitIsAddedOnlyWhereThereIsNone() {
        assertThat(limits.add(LimitSettings.of("mail", 4))).isTrue();
        assertThat(limits.add(LimitSettings.of("PRICEDB", 1))).isFalse();

        assertThat(limits.names()).containsExactly("mail", "price-db");
        assertThat(limits.get("mail").available()).isEqualTo(4);
        assertThat(limit.permits()).isEqualTo(20);
        assertThat(told).isEmpty();
    }

    @Test
    void aLimitThatDoesNotExistCannotBeChanged() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> limits.change(limits.get("mail"), now -> now.withPermits(9), Source.ENDPOINT))
                .withMessage("No limit 'mail' is configured; the configured limits are [price-db]");
    }

    @Test
    void whatALimitBeginsWithIsNoChange() {
        limits.adjust(limits.get("priceDb"), now -> 7);

        assertThat(limit.permits()).isEqualTo(7);
        assertThat(limit.available()).isEqualTo(7);
        assertThat(told).isEmpty();
    }

    @Test
    void nothingIsToldWhenNothingChanged() {
        limit.resize(20);
        limit.setQueueCapacity(100);
        limit.setMaxWait(null);
        limits.change(limit, now -> now.withNested(Nested.WARN), Source.ENVIRONMENT);

        assertThat(told).isEmpty();
        assertThat(limit.available()).isEqualTo(20);
    }

    @Test
    void aBadValueChangesNothing() {
        assertRefused(() -> limit.resize(0), "Limit 'price-db': permits must be at least 1, was 0");
        assertRefused(
                () -> limit.resize(Integer.MIN_VALUE), "Limit 'price-db': permits must be at least 1, was -2147483648");
        assertRefused(() -> limit.setQueueCapacity(-1), "Limit 'price-db': queue-capacity must be at least 0, was -1");
        assertRefused(
                () -> limit.setMaxWait(Duration.ofSeconds(-2)),
                "Limit 'price-db': max-wait must be longer than zero, was -2s"
                        + " (to reject calls instead of letting them wait, set queue-capacity to 0)");
    }

    @Test
    void oneBadValueAmongSeveralChangesNothing() {
        assertRefused(
                () -> limits.change(limit, now -> now.withQueueCapacity(5).withPermits(0), Source.ENDPOINT),
                "Limit 'price-db': permits must be at least 1, was 0");
    }

    @Test
    void waitersAreServedBeforeTheChangeIsTold() {
        List<Boolean> served = new ArrayList<>();
        List<Call> calls = new ArrayList<>();
        SemaphoreLimit own = new SemaphoreLimit(
                LimitSettings.of("own", 1), null, timer, change -> calls.forEach(call -> served.add(call.holds())));
        calls.addAll(Call.asked(own, 2));

        own.resize(2);

        assertThat(served).containsExactly(true, true);
    }
}
