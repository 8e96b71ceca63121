package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitIdle;
import static io.github.virtualthread.execution.TestEngine.awaitStubbornly;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.github.virtualthread.limit.LimitSettings;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

/** What an operator sees of calls, and can do to them. */
@Timeout(300)
@Tag("jdk")
class LiveCallsTests {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1), LimitSettings.of("mail", 1));

    private final LiveCalls calls = test.engine.liveCalls();
    private final CountDownLatch gate = test.latch();

    @Test
    void aRunningCallIsSeenWithItsThreadAndTheMdcOfItsCaller() {
        MDC.put("user", "alice");
        test.hold("db", gate);

        assertThat(calls.running(test.limit("DB"))).singleElement().satisfies(live -> {
            assertThat(live.call().isStarted()).isTrue();
            assertThat(live.abandoned()).isFalse();
            assertThat(live.call().spec().name()).isEqualTo("Test.task");
            assertThat(live.thread()).isNotNull().extracting(Thread::getName).isEqualTo("vt-Test.task-1");
            assertThat(live.mdc()).containsExactly(Map.entry("user", "alice"));
            assertThat(calls.onThread(live.thread().threadId())).contains(live);
        });
        assertThat(calls.running(test.limit("mail"))).isEmpty();
        assertThat(calls.waiting(test.limit("db"), 10)).isEmpty();
    }

    @Test
    void aCallWithoutALimitRunsUnderNone() {
        test.hold(null, gate);

        assertThat(calls.running(null)).hasSize(1);
        assertThat(calls.running()).hasSize(1);
    }

    @Test
    void theOldestIsSeenFirst() {
        test.hold(null, gate);
        test.hold("db", gate);
        test.hold("mail", gate);

        assertThat(calls.running())
                .extracting(live -> live.call().spec().limitName())
                .containsExactly("none", "db", "mail");
    }

    /** A sort that asks for the age again at each comparison sees an order that changes, and may give up. */
    @Test
    void manyCallsThatBeganAlmostAtOnceAreInOrder() {
        CountDownLatch running = new CountDownLatch(5000);
        for (int i = 0; i < 5000; i++) {
            test.submit(null, () -> {
                running.countDown();
                gate.await();
                return null;
            });
        }
        TestEngine.await(running);

        List<LiveCall> expected = calls.running();
        for (int i = 0; i < 50; i++) {
            assertThat(calls.running().equals(expected)).as("same order").isTrue();
        }
    }

    /** Meters, the watch and pinned threads look at all calls again and again, and show the MDC of none. */
    @Test
    void whoLooksAtAllCallsCopiesNoMdc() {
        CountDownLatch running = new CountDownLatch(1000);
        for (int key = 0; key < 30; key++) {
            MDC.put("key" + key, "value");
        }
        for (int call = 0; call < 1000; call++) {
            MDC.put("call", Integer.toString(call)); // each has an MDC of its own
            test.submit(null, () -> {
                running.countDown();
                gate.await();
                return null;
            });
        }
        await(running);
        assertThat(calls.running()).hasSize(1000); // classes are loaded

        long before = THREADS.getCurrentThreadAllocatedBytes();
        List<LiveCall> all = calls.running();
        long bytes = THREADS.getCurrentThreadAllocatedBytes() - before;

        assertThat(all).allMatch(live -> live.mdc().size() == 31);
        assertThat(bytes / 1000).as("bytes for each call").isLessThan(500);
    }

    @Test
    void waitingCallsAreSeenInTheOrderOfTheQueue() {
        test.hold("db", gate);
        List.of("a", "b", "c").forEach(user -> {
            MDC.put("user", user);
            test.submit("db", () -> null);
        });

        assertThat(calls.waiting(test.limit("db"), 2))
                .extracting(live -> live.mdc().get("user"))
                .containsExactly("a", "b");
        assertThat(calls.waiting(test.limit("db"), 10)).hasSize(3).noneMatch(live -> live.call()
                .isStarted());
    }

    @Test
    void aCallOnItsCallersThreadIsSeenToo() throws Throwable {
        TaskSpec outer = test.engine.spec("Test.outer", "db");
        TaskSpec inner = test.engine.spec("Test.inner", "mail");

        test.engine.call(
                outer,
                () -> test.engine.call(inner, () -> {
                    assertThat(calls.running())
                            .extracting(live -> live.call().spec().name())
                            .containsExactly("Test.outer", "Test.inner");
                    assertThat(calls.onThread(Thread.currentThread().threadId()))
                            .hasValueSatisfying(
                                    live -> assertThat(live.call().spec()).isSameAs(inner));
                    return null;
                }));

        assertThat(calls.running()).isEmpty();
    }

    @Test
    void aBodyThatOutlivesItsCallIsAbandoned() {
        CompletableFuture<?> call = test.holdStubbornly("db", gate);

        call.cancel(true);

        assertThat(calls.running(test.limit("db"))).singleElement().matches(LiveCall::abandoned);
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = "db")
    void aContinuationIsNoRunningCall(@Nullable String limit) {
        CountDownLatch continuing = new CountDownLatch(1);
        CountDownLatch attached = new CountDownLatch(1);
        CompletableFuture<?> call = test.submit(limit, () -> {
            await(attached);
            return null;
        });
        Future<?> unused = call.thenRun(() -> {
            continuing.countDown();
            await(gate);
        });
        attached.countDown();
        await(continuing);

        assertThat(calls.running()).isEmpty();
    }

    @Test
    void aRunningCallCanBeCancelledByItsNumber() {
        CompletableFuture<?> running = test.hold("db", gate);

        assertThat(calls.cancel(calls.running(test.limit("db")).get(0).call().id()))
                .isPresent();

        assertThat(running).isCancelled();
        awaitIdle(test);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void amongManyCallsTheOneOfThatNumberIsMeant() {
        List<CompletableFuture<?>> running =
                List.of(test.hold("db", gate), test.hold("mail", gate), test.hold(null, gate));

        for (LiveCall live : calls.running()) {
            assertThat(calls.onThread(live.thread().threadId())).contains(live);
        }
        calls.cancel(calls.running(test.limit("mail")).get(0).call().id());

        assertThat(running).extracting(CompletableFuture::isCancelled).containsExactly(false, true, false);
    }

    @Test
    void aWaitingCallCanBeCancelledByItsNumber() {
        test.hold("db", gate);
        CompletableFuture<?> first = test.submit("db", () -> null);
        CompletableFuture<?> second = test.submit("db", () -> null);

        assertThat(calls.cancel(calls.waiting(test.limit("db"), 2).get(1).call().id()))
                .isPresent();

        assertThat(second).isCancelled();
        assertThat(first).isNotDone();
        assertThat(test.limit("db").waiting()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void whatHangsOnACancelledCallRunsOnAThreadOfItsOwn(boolean waits) throws Exception {
        CountDownLatch cancelled = new CountDownLatch(1);
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        CompletableFuture<String> user = new CompletableFuture<>();
        CompletableFuture<?> holder = test.hold("db", gate);
        MDC.put("user", "alice");
        CompletableFuture<?> call = waits ? test.submit("db", () -> null) : test.hold("mail", gate);
        Future<?> unused = call.whenComplete((value, failure) -> {
            thread.complete(Thread.currentThread());
            user.complete(MDC.get("user"));
            awaitStubbornly(cancelled);
        });
        MDC.put("user", "operator");

        LiveCall live = (waits ? calls.waiting(test.limit("db"), 1) : calls.running(test.limit("mail"))).get(0);
        Thread operator =
                Thread.ofPlatform().start(() -> calls.cancel(live.call().id()));

        try {
            assertThat(operator.join(Duration.ofMinutes(2))).isTrue();
        } finally {
            cancelled.countDown();
        }
        assertThat(call).isCancelled();
        assertThat(thread.join()).isNotSameAs(operator);
        assertThat(user.join()).isEqualTo("alice");
        assertThat(holder).isNotDone();
    }

    @Test
    void anUnknownNumberAndACallOnItsCallersThreadAreNotCancelled() throws Throwable {
        assertThat(calls.cancel(-1)).isEmpty();

        test.engine.call(test.engine.spec("Test.call", "db"), () -> {
            assertThat(calls.cancel(
                            calls.running(test.limit("db")).get(0).call().id()))
                    .isEmpty();
            return null;
        });
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
    }
}
