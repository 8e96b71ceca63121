package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rejections are reported on threads of their own, and none is lost with the thread that reports it. */
@Timeout(300)
@Tag("jdk")
class RejectionQueueTests {

    private static final Duration ENOUGH = Duration.ofMinutes(2);

    private final TaskTimer timer = new TaskTimer("test");
    private final RejectionQueue queue = new RejectionQueue(timer);
    private final Set<Call> reported = ConcurrentHashMap.newKeySet();
    private final AtomicInteger reports = new AtomicInteger();
    private final CountDownLatch release = new CountDownLatch(1);

    @AfterEach
    void close() {
        release.countDown();
        timer.close();
    }

    @Test
    void allAreReportedAndNoneTwice() {
        List<Call> calls = Stream.generate(this::recorded).limit(1_000).toList();
        calls.forEach(call -> queue.add(call, Reason.EVICTED));

        queue.reportSoon();

        assertThat(calls).allSatisfy(call -> assertThat(call.rejected).succeedsWithin(ENOUGH));
        assertThat(queue.isEmpty()).isTrue();
        assertThat(reports).hasValue(1_000);
    }

    @Test
    void aCallLetsGoBeforeItsReport() {
        Call call = recorded();

        queue.add(call, Reason.EVICTED);

        assertThat(call.hasLetGo).isTrue();
        assertThat(reported).isEmpty();
    }

    @Test
    void aCallThatCouldNotStartHearsOfThat() {
        Call call = Call.withoutThread(null);
        assertThat(call.grant()).isFalse();

        queue.add(call, null);
        queue.reportSoon();

        assertThat(call.failed).succeedsWithin(ENOUGH);
        assertThat(call.rejected).isNotDone();
    }

    @Test
    void oneThatCannotBeReportedDoesNotKeepTheOthersFromIt() {
        Call next = recorded();
        queue.add(
                new Call(null) {
                    @Override
                    protected void reportRejected(@Nullable Reason reason) {
                        throw new IllegalStateException("broken");
                    }
                },
                Reason.EVICTED);
        queue.add(next, Reason.EVICTED);

        queue.reportSoon();

        assertThat(next.rejected).succeedsWithin(ENOUGH);
    }

    @Test
    void reportsThatBlockHoldUpNoOther() {
        List<Call> blocking = Stream.generate(() -> new Call(null) {
                    @Override
                    protected void reportRejected(@Nullable Reason reason) {
                        awaitUninterruptibly(release);
                        super.reportRejected(reason);
                    }
                })
                .limit(10 * RejectionQueue.MOST_THREADS_COMING)
                .<Call>map(call -> call)
                .toList();
        blocking.forEach(call -> queue.add(call, Reason.EVICTED));
        Call last = recorded();
        queue.add(last, Reason.EVICTED);

        queue.reportSoon();

        assertThat(last.rejected).succeedsWithin(ENOUGH);
        assertThat(blocking).noneMatch(call -> call.rejected.isDone());
    }

    /** So none sees what another has left on its thread. On a platform thread that is at least no interrupt. */
    @Test
    void aVirtualThreadMakesOneReport() {
        Map<Thread, Integer> reportsOf = new ConcurrentHashMap<>();
        List<Call> calls = Stream.generate(() -> new Call(null) {
                    @Override
                    protected void reportRejected(@Nullable Reason reason) {
                        Thread current = Thread.currentThread();
                        int number = reportsOf.merge(current, 1, Integer::sum);
                        if (current.isInterrupted() || current.isVirtual() && number > 1) {
                            throw new IllegalStateException("interrupted, or report number " + number);
                        }
                        super.reportRejected(reason);
                        current.interrupt();
                    }
                })
                .limit(500)
                .<Call>map(call -> call)
                .toList();
        calls.forEach(call -> queue.add(call, Reason.EVICTED));

        queue.reportSoon();

        assertThat(calls).allSatisfy(call -> assertThat(call.rejected).succeedsWithin(ENOUGH));
        assertThat(reportsOf).doesNotContainKey(Thread.currentThread());
    }

    /** As if the JVM had taken off its stack what the first thread does. */
    @Test
    void whatAThreadLosesIsReportedAgain() throws Exception {
        CountDownLatch reporting = new CountDownLatch(1);
        AtomicBoolean first = new AtomicBoolean(true);
        Call lost = new Call(null) {
            @Override
            protected void reportRejected(@Nullable Reason reason) {
                if (first.getAndSet(false)) {
                    reporting.countDown();
                    awaitUninterruptibly(release);
                } else {
                    super.reportRejected(reason);
                }
            }
        };
        queue.add(lost, Reason.EVICTED);
        queue.reportSoon();
        assertThat(reporting.await(2, TimeUnit.MINUTES)).isTrue();

        Call next = recorded();
        queue.add(next, Reason.EVICTED);
        queue.reportSoon();
        assertThat(next.rejected).succeedsWithin(ENOUGH);
        assertThat(lost.rejected).isNotDone();

        queue.reportAgain();
        assertThat(lost.rejected).succeedsWithin(ENOUGH).isEqualTo(Reason.EVICTED);
        Awaitility.await().atMost(ENOUGH).until(queue::isEmpty);
    }

    /** Somebody evicts while calls are being reported that claim nothing, as callers that wait do. */
    @Test
    void whatIsReportedAgainIsCountedOnce() {
        List<Call> calls = Stream.generate(() -> new Call(null) {
                    @Override
                    protected void reportRejected(@Nullable Reason reason) {
                        if (reported.add(this)) {
                            queue.reportAgain();
                        }
                        super.reportRejected(reason);
                    }
                })
                .limit(1_000)
                .<Call>map(call -> call)
                .toList();
        calls.forEach(call -> queue.add(call, Reason.EVICTED));

        queue.reportSoon();

        assertThat(calls).allSatisfy(call -> assertThat(call.rejected).succeedsWithin(ENOUGH));
        Awaitility.await().atMost(ENOUGH).until(() -> queue.all().isEmpty());
        assertThat(queue.isEmpty()).isTrue();
    }

    /** A stop claims reports that no thread has begun. */
    @Test
    void whatIsClaimedElsewhereIsNotReportedHere() {
        Call claimed = recorded();
        Call next = recorded();
        queue.add(claimed, Reason.EVICTED);
        queue.add(next, Reason.EVICTED);
        assertThat(queue.all()).containsExactly(claimed, next);

        assertThat(claimed.claimReport()).isTrue();
        queue.claimed(claimed, false);
        assertThat(queue.all()).containsExactly(next);
        queue.reportSoon();

        assertThat(next.rejected).succeedsWithin(ENOUGH);
        assertThat(queue.isEmpty()).isTrue();
        assertThat(reported).containsExactly(next);
        assertThat(claimed.claimReport()).isFalse();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    private Call recorded() {
        return new Call(null) {
            @Override
            protected void reportRejected(@Nullable Reason reason) {
                reported.add(this);
                reports.incrementAndGet();
                super.reportRejected(reason);
            }
        };
    }
}
