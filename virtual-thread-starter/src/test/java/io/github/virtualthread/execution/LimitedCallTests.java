package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertRejected;
import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(300)
@Tag("jdk")
class LimitedCallTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 1),
            LimitSettings.of("three", 3),
            LimitSettings.of("full", 1).withQueueCapacity(0),
            LimitSettings.of("impatient", 1).withMaxWait(Duration.ofMillis(20)));

    private final CountDownLatch release = test.latch();

    @Test
    void aChainOfAHundredThousandShortBodiesNeedsNoDeepStack() {
        AtomicInteger deepest = new AtomicInteger();
        test.hold("db", release);
        CompletableFuture<?> last = CompletableFuture.completedFuture(null);
        for (int i = 0; i < 100_000; i++) {
            boolean looked = i % 10_000 == 9_999;
            last = test.submit(
                    "db",
                    () -> looked ? deepest.accumulateAndGet(new Throwable().getStackTrace().length, Math::max) : null);
        }

        release.countDown();

        assertThat(last).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(deepest.get()).isBetween(1, 30);
    }

    @Test
    void aFullQueueRejectsThroughTheFuture() {
        test.hold("full", release);

        assertRejected(test.submit("full", () -> "ran"), Reason.QUEUE_FULL);
        release.countDown();
        assertThat(test.limit("full").waiting()).isZero();
    }

    @Test
    void aLongWaitRejectsThroughTheFuture() {
        CompletableFuture<?> held = test.hold("impatient", release);

        assertRejected(test.submit("impatient", () -> "ran"), Reason.WAIT_TIMEOUT);
        release.countDown();

        assertThat(held).succeedsWithin(2, TimeUnit.MINUTES);
        assertThat(test.submit("impatient", () -> "next")).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void thePermitIsBackWhenTheFutureIsComplete() {
        for (int i = 0; i < 1_000; i++) {
            boolean fails = i % 2 == 0;
            test.submit("db", () -> {
                        if (fails) {
                            throw new StackOverflowError();
                        }
                        return null;
                    })
                    .handle((value, failure) -> null)
                    .join();
            assertThat(test.limit("db").available()).isEqualTo(1);
        }
    }

    @Test
    void halfOfManyWaitingAreCancelledWithoutASearchAndTheirArgumentsGo() throws Exception {
        test.hold("db", release);
        List<CompletableFuture<@Nullable Object>> cancelled = new ArrayList<>();
        List<WeakReference<Object>> arguments = new ArrayList<>();
        for (int i = 0; i < 200_000; i++) {
            Object argument = new Object();
            CompletableFuture<@Nullable Object> future = test.submit("db", argument::hashCode);
            if (i % 2 == 0) {
                cancelled.add(future);
                if (i % 10_000 == 0) {
                    arguments.add(new WeakReference<>(argument));
                }
            }
        }

        for (int i = cancelled.size() - 1; i >= 0; i--) {
            cancelled.get(i).cancel(true);
        }

        assertThat(test.limit("db").waiting()).isEqualTo(100_000);
        assertThat(collected(arguments)).isTrue();
        assertThat(cancelled).hasSize(100_000).allMatch(CompletableFuture::isCancelled);
        test.limits.rejectWaiting();
    }

    @Test
    void aFutureThatIsKeptKeepsNoArgumentAlive() throws Exception {
        List<WeakReference<Object>> arguments = new ArrayList<>();
        List<CompletableFuture<@Nullable Object>> futures = new ArrayList<>();
        test.hold("full", release);
        test.hold("impatient", release);
        for (String limit : new String[] {"db", "full", "impatient"}) {
            Object argument = new Object();
            arguments.add(new WeakReference<>(argument));
            futures.add(test.submit(limit, argument::hashCode));
        }
        futures.forEach(future -> future.handle((value, failure) -> null).join());

        assertThat(collected(arguments)).isTrue();
        assertThat(futures)
                .extracting(CompletableFuture::isCompletedExceptionally)
                .containsExactly(false, true, true);
    }

    @Test
    void aRunningCallKeepsNobodyAliveThatWaitedBehindIt() throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        CountDownLatch second = new CountDownLatch(1);
        CountDownLatch running = new CountDownLatch(1);
        test.hold("three", release);
        test.hold("three", first);
        test.hold("three", second);
        test.submit("three", () -> {
            running.countDown();
            release.await();
            return null;
        });
        List<WeakReference<Object>> values = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            values.add(valueOf(i == 9 ? second : new CountDownLatch(0)));
        }
        first.countDown();
        await(running);
        second.countDown();
        test.submit("three", () -> "all others have ended").join();

        assertThat(collected(values)).isTrue();
    }

    private WeakReference<Object> valueOf(CountDownLatch after) {
        Object value = new Object();
        test.submit("three", () -> {
            after.await();
            return value;
        });
        return new WeakReference<>(value);
    }

    /** Tries again, since a collection may leave some for the next. */
    private static boolean collected(List<WeakReference<Object>> references) throws InterruptedException {
        for (int attempt = 0; attempt < 50; attempt++) {
            System.gc();
            if (references.stream().allMatch(reference -> reference.refersTo(null))) {
                return true;
            }
            new CountDownLatch(1).await(20, TimeUnit.MILLISECONDS);
        }
        return false;
    }
}
