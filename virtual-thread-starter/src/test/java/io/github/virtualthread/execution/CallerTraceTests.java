package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** With the caller's stack switched on, each failure tells where its call was made. */
@Timeout(300)
@Tag("jdk")
class CallerTraceTests {

    @RegisterExtension
    private final TestEngine test = TestEngine.tracingCallers(
            LimitSettings.of("db", 1).withQueueCapacity(1),
            LimitSettings.of("slow", 1).withMaxWait(Duration.ofMillis(1)));

    private final VirtualThreads byHand = new VirtualThreads(test.engine, (task, failure) -> {});
    private final CountDownLatch gate = test.latch();

    @Test
    void theExceptionOfABodyShowsTheCaller() {
        IOException broken = new IOException("broken");

        Throwable seen = failureOf(callOf("db", () -> {
            throw broken;
        }));

        assertThat(seen).isSameAs(broken);
        assertThat(callers(seen)).singleElement().satisfies(caller -> {
            assertThat(caller)
                    .hasMessage(
                            "Shop.price was called here, on thread %s",
                            Thread.currentThread().getName());
            assertThat(caller.getStackTrace())
                    .extracting(StackTraceElement::getMethodName)
                    .contains("callOf", "theExceptionOfABodyShowsTheCaller");
            assertThat(caller).hasNoCause().hasNoSuppressedExceptions();
        });
    }

    @Test
    void aTimeoutShowsTheCaller() {
        TaskSpec spec = test.engine.spec("Shop.price", "db", Duration.ofMillis(1));

        Throwable seen = failureOf(test.engine.submit(spec, () -> {
            gate.await();
            return null;
        }));

        assertThat(seen).isInstanceOf(TimeoutException.class);
        assertThat(callers(seen)).hasSize(1);
    }

    @Test
    void aRejectionShowsTheCallerWhetherItComesAtOnceOrLater() {
        test.hold("db", gate);
        test.submit("db", () -> null);
        test.hold("slow", gate);

        assertThat(List.of(failureOf(callOf("db", () -> null)), failureOf(callOf("slow", () -> null))))
                .allSatisfy(seen -> {
                    assertThat(seen).isInstanceOf(LimitExceededException.class);
                    assertThat(seen.getStackTrace()).isNotEmpty();
                    assertThat(callers(seen)).hasSize(1);
                });
    }

    @Test
    void aCancellationShowsTheCallerWhetherTheCallRanOrWaited() {
        CompletableFuture<?> running = test.hold("db", gate);
        CompletableFuture<?> waiting = callOf("db", () -> null);

        for (CompletableFuture<?> cancelled : List.of(waiting, running)) {
            assertThat(cancelled.cancel(true)).isTrue();

            assertThat(cancelled).isCancelled();
            assertThat(failureOf(cancelled)).isInstanceOf(CancellationException.class);
            assertThat(callers(failureOf(cancelled))).hasSize(1);
        }
    }

    @Test
    void aStoppedCallShowsTheCaller() {
        CompletableFuture<?> running = test.hold("db", gate);

        test.engine.stop(Duration.ZERO);

        assertThat(callers(failureOf(running))).hasSize(1);
    }

    @Test
    void theHandlerOfACallThatReturnsNothingSeesTheCaller() {
        CompletableFuture<Throwable> handled = new CompletableFuture<>();

        test.engine.execute(
                test.engine.spec("Shop.order", null),
                () -> {
                    throw new IOException("broken");
                },
                (task, failure) -> handled.complete(failure));

        assertThat(callers(handled.join())).singleElement().satisfies(caller -> assertThat(caller)
                .hasMessageStartingWith("Shop.order was called here"));
    }

    @Test
    void callsByHandShowTheirCaller() throws Exception {
        Callable<String> broken = () -> {
            throw new IOException("broken");
        };

        assertThat(List.of(
                        failureOf(byHand.submit(broken)),
                        catchThrowable(() -> byHand.all(List.of(broken, broken))),
                        catchThrowable(() -> byHand.anySuccessful(List.of(broken))),
                        failureOf(byHand.executor("db").submitCompletable(broken))))
                .allSatisfy(seen -> {
                    assertThat(callers(seen)).hasSize(1);
                    assertThat(callers(seen).get(0).getStackTrace())
                            .extracting(StackTraceElement::getClassName)
                            .contains(CallerTraceTests.class.getName());
                });
    }

    @Test
    void eachOfTwoNestedCallsAddsItsOwn() {
        Throwable seen = failureOf(callOf(
                null,
                () -> test.engine.submit(test.engine.spec("Shop.inner", null), () -> {
                    throw new IOException("broken");
                })));

        assertThat(callers(seen))
                .extracting(Throwable::getMessage)
                .satisfiesExactly(
                        inner -> assertThat(inner).startsWith("Shop.inner was called here, on thread vt-Shop.price-"),
                        outer -> assertThat(outer).startsWith("Shop.price was called here"));
    }

    @Test
    void oneCallAddsItselfOnce() {
        CallerTrace caller = new CallerTrace("Shop.price");
        IOException broken = new IOException("broken");

        caller.addTo(broken);
        caller.addTo(broken);

        assertThat(broken.getSuppressed()).containsExactly(caller);
    }

    @Test
    void anExceptionThatIsThrownForEverDoesNotGrowForEver() {
        IOException always = new IOException("broken");

        for (int i = 0; i < 3 * CallerTrace.MOST_CALLERS; i++) {
            assertThat(failureOf(callOf(null, () -> {
                        throw always;
                    })))
                    .isSameAs(always);
        }

        assertThat(callers(always)).hasSize(CallerTrace.MOST_CALLERS);
    }

    @Test
    void anExceptionThatTakesNoSuppressedOnesIsLeftAsItIs() {
        Exception closed = new Closed();

        assertThat(failureOf(callOf("db", () -> {
                    throw closed;
                })))
                .isSameAs(closed);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aCallOnItsCallersThreadAddsNothing() {
        IOException broken = new IOException("broken");

        assertThat(catchThrowable(() -> test.engine.call(test.engine.spec("Shop.price", "db"), () -> {
                    throw broken;
                })))
                .isSameAs(broken);
        assertThat(callers(broken)).isEmpty();
    }

    @Test
    void aCallThatSucceedsShowsNothing() {
        assertThat(callOf("db", () -> "value").join()).isEqualTo("value");
    }

    @Test
    void switchedOffAFailureIsLeftAsItIs() {
        try (TestEngine off = new TestEngine()) {
            Throwable seen = failureOf(off.submit(null, () -> {
                throw new IOException("broken");
            }));
            CompletableFuture<?> cancelled = off.hold(null, gate);
            cancelled.cancel(true);

            Throwable ofMany =
                    catchThrowable(() -> new VirtualThreads(off.engine, (task, failure) -> {}).all(List.of(() -> {
                        throw new IOException("broken");
                    })));

            assertThat(seen).hasNoSuppressedExceptions();
            assertThat(ofMany).hasNoSuppressedExceptions();
            // a body that ends before the future is complete adds what the interrupt made of it
            assertThat(callers(failureOf(cancelled))).isEmpty();
        }
    }

    private CompletableFuture<?> callOf(String limit, TaskBody body) {
        return test.engine.submit(test.engine.spec("Shop.price", limit), body);
    }

    /** As a continuation of the future gets it. */
    private static Throwable failureOf(CompletableFuture<?> future) {
        return future.handle((value, failure) -> failure)
                .orTimeout(2, TimeUnit.MINUTES)
                .join();
    }

    private static List<Throwable> callers(Throwable failure) {
        return Arrays.stream(failure.getSuppressed())
                .filter(CallerTrace.class::isInstance)
                .toList();
    }

    private static final class Closed extends Exception {

        Closed() {
            super("closed", null, false, false);
        }
    }
}
