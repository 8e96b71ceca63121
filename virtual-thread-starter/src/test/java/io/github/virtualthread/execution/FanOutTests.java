package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitParked;
import static io.github.virtualthread.execution.TestEngine.awaitStubbornly;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.spy;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In threads of their own: what waits for its tasks to end cannot be interrupted by a timeout. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD)
@Order(Integer.MAX_VALUE) // it mocks
@Tag("jdk")
class FanOutTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("two", 2), LimitSettings.of("full", 1).withQueueCapacity(0));

    private final VirtualThreads threads = new VirtualThreads(test.engine, (task, failure) -> {});
    private final CountDownLatch release = test.latch();
    private final CountDownLatch interrupted = new CountDownLatch(1);

    /** Ends by an interrupt, or with the test. */
    private String blocked(CountDownLatch running) throws InterruptedException {
        running.countDown();
        try {
            release.await();
        } catch (InterruptedException expected) {
            interrupted.countDown();
            throw expected;
        }
        return "released";
    }

    @Test
    void allRunAtTheSameTime() throws Exception {
        CountDownLatch together = new CountDownLatch(20);
        Callable<Boolean> meeting = () -> {
            together.countDown();
            return together.await(2, TimeUnit.MINUTES);
        };

        assertThat(threads.all(Collections.nCopies(20, meeting))).hasSize(20).containsOnly(true);
    }

    @Test
    void theValuesComeInTheOrderOfTheTasks() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        List<Callable<? extends @Nullable Object>> tasks = Arrays.asList(
                () -> {
                    await(second);
                    return "first";
                },
                () -> {
                    second.countDown();
                    return 2;
                },
                () -> null);

        assertThat(threads.<@Nullable Object>all(tasks)).containsExactly("first", 2, null);
        assertThat(threads.all(List.<Callable<String>>of())).isEmpty();
    }

    @Test
    void theFirstFailureIsThrownAsItIsAndInterruptsTheRest() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CompletionException failure = new CompletionException(new IOException("down"));

        assertThatThrownBy(() -> threads.all(List.of(() -> blocked(running), () -> {
                    await(running);
                    throw failure;
                })))
                .isSameAs(failure);

        assertThat(interrupted.getCount()).isZero();
        assertThat(test.engine.isIdle()).isTrue();
    }

    @Test
    void aCancellationExceptionOfATaskIsThrownAsItIs() {
        CancellationException failure = new CancellationException("somebody else's");

        assertThatThrownBy(() -> threads.all(List.of(() -> {
                    throw failure;
                })))
                .isSameAs(failure);
    }

    @Test
    void nothingOutlivesTheCallNotEvenWhatIgnoresInterrupts() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        List<String> ends = Collections.synchronizedList(new ArrayList<>());
        CompletableFuture<@Nullable Object> outcome = new CompletableFuture<>();
        Thread caller = call(
                outcome,
                () -> threads.all(
                        "two",
                        List.of(
                                () -> {
                                    running.countDown();
                                    awaitStubbornly(release);
                                    ends.add("stubborn");
                                    return "";
                                },
                                () -> {
                                    await(running);
                                    throw new IOException("down");
                                })));
        await(running);
        awaitParked(caller);
        CompletableFuture<?> ended = outcome.whenComplete((value, failure) -> ends.add("call"));

        release.countDown();

        assertThat(ended).failsWithin(2, TimeUnit.MINUTES);
        assertThat(outcome.exceptionNow()).isInstanceOf(IOException.class);
        assertThat(ends).containsExactly("stubborn", "call");
        assertThat(test.limit("two").available()).isEqualTo(2);
    }

    private static Thread call(CompletableFuture<@Nullable Object> outcome, Callable<?> call) {
        return Thread.startVirtualThread(() -> {
            try {
                outcome.complete(call.call());
            } catch (Throwable failure) {
                outcome.completeExceptionally(failure);
            }
        });
    }

    @Test
    void anInterruptOfTheCallerInterruptsAll() {
        CountDownLatch running = new CountDownLatch(2);
        CompletableFuture<@Nullable Object> outcome = new CompletableFuture<>();
        Thread caller = call(outcome, () -> threads.all("two", Collections.nCopies(3, () -> blocked(running))));
        await(running);

        caller.interrupt();

        assertThat(outcome).failsWithin(2, TimeUnit.MINUTES);
        assertThat(outcome.exceptionNow()).isInstanceOf(InterruptedException.class);
        assertThat(interrupted.getCount()).isZero();
        assertThat(test.engine.isIdle()).isTrue();
        assertThat(test.limit("two").waiting()).isZero();
    }

    @Test
    void anInterruptWhileTheCallerWaitsForTheEndIsNotSwallowed() {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<@Nullable Object> outcome = new CompletableFuture<>();
        CompletableFuture<Boolean> flag = new CompletableFuture<>();
        Thread caller = call(outcome, () -> {
            try {
                return threads.all(List.of(() -> {
                    running.countDown();
                    try {
                        release.await();
                    } catch (InterruptedException cancelled) {
                        interrupted.countDown();
                    }
                    awaitStubbornly(release);
                    return "";
                }));
            } finally {
                flag.complete(Thread.currentThread().isInterrupted());
            }
        });
        await(running);
        caller.interrupt();
        await(interrupted);

        caller.interrupt();
        release.countDown();

        assertThat(flag).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(true);
        assertThat(outcome).failsWithin(2, TimeUnit.MINUTES);
        assertThat(outcome.exceptionNow()).isInstanceOf(InterruptedException.class);
    }

    @Test
    void aCallerThatIsInterruptedAlreadyStartsNothing() {
        AtomicInteger started = new AtomicInteger();
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> threads.all(List.of(started::incrementAndGet)))
                .isInstanceOf(InterruptedException.class);
        assertThat(started.get()).isZero();
    }

    @Test
    void aRefusalIsAFailureLikeAnyOther() {
        CountDownLatch running = new CountDownLatch(1);

        assertThatThrownBy(() -> threads.all("full", Collections.nCopies(1_000, () -> blocked(running))))
                .isInstanceOf(LimitExceededException.class);
        assertThat(test.engine.isIdle()).isTrue();
    }

    @Test
    void theFirstSuccessInterruptsTheRest() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        List<Callable<String>> tasks = List.of(
                () -> {
                    throw new IOException("this one is down");
                },
                () -> blocked(running),
                () -> {
                    await(running);
                    return "fast";
                });

        assertThat(threads.anySuccessful(tasks)).isEqualTo("fast");
        assertThat(interrupted.getCount()).isZero();
        assertThat(test.engine.isIdle()).isTrue();
    }

    @Test
    void underALimitTheFirstSuccessSparesThoseThatWait() throws Exception {
        AtomicInteger ran = new AtomicInteger();
        test.hold("two", release);

        Callable<Integer> next = ran::incrementAndGet;
        int first = threads.anySuccessful("two", Collections.nCopies(100, next));

        assertThat(first).isPositive();
        assertThat(test.limit("two").waiting()).isZero();
        assertThat(test.limit("two").available()).isEqualTo(1);
    }

    @Test
    void ifAllFailOneFailureTellsOfTheOthers() {
        Throwable one = new IOException("one");
        Throwable other = new IllegalStateException("other");
        List<Callable<String>> broken = List.of(
                () -> {
                    throw (IOException) one;
                },
                () -> {
                    throw (IllegalStateException) other;
                });

        assertThatThrownBy(() -> threads.anySuccessful("two", broken))
                .satisfiesAnyOf(
                        failure -> assertThat(failure).isSameAs(one).hasSuppressedException(other),
                        failure -> assertThat(failure).isSameAs(other).hasSuppressedException(one));
    }

    @Test
    void aConstantFailureDoesNotKeepAllThatEverFailedBesideIt() {
        IllegalStateException constant = new IllegalStateException("always the same");
        List<Callable<String>> broken = List.of(
                () -> {
                    throw constant;
                },
                () -> {
                    throw new IOException("another each time");
                });

        for (int call = 0; call < 500; call++) {
            assertThatThrownBy(() -> threads.anySuccessful(broken)).isInstanceOf(Exception.class);
        }

        assertThat(constant.getSuppressed()).hasSizeBetween(1, Failures.MOST_SUPPRESSED);
    }

    /** As a shortage of memory or of stack does. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void aSubmitThatThrowsEndsTheRestAndTheCall(int broken) throws Exception {
        StackOverflowError thrown = new StackOverflowError();
        TaskEngine engine = spy(test.engine);
        AtomicInteger submitted = new AtomicInteger();
        CountDownLatch running = new CountDownLatch(broken - 1);
        doAnswer(submit -> {
                    if (submitted.incrementAndGet() == broken) {
                        await(running);
                        throw thrown;
                    }
                    return submit.callRealMethod();
                })
                .when(engine)
                .submit(any(Task.class));
        VirtualThreads threads = new VirtualThreads(engine, (task, failure) -> {});

        assertThatThrownBy(() -> threads.all(Collections.nCopies(3, () -> blocked(running))))
                .isSameAs(thrown);
        Callable<String> next = () -> "next";
        assertThat(threads.all(List.of(next))).containsExactly("next");
        assertThat(test.engine.isIdle()).isTrue();
    }

    @Test
    void ofNoneNoneSucceeds() {
        assertThatThrownBy(() -> threads.anySuccessful(List.<Callable<String>>of()))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
