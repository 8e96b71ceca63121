package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertFails;
import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitIdle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitExceededException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.MDC;

/** What a listener hears of each call. */
@Timeout(300)
@Tag("jdk")
class TaskListenerTests extends ReportedCalls {

    @Test
    void aCallThatSucceedsIsSubmittedStartedAndFinished() {
        test.submit("db", () -> "value").join();

        assertThat(log.events).containsExactly("submitted", "started", "finished SUCCESS");
    }

    @Test
    void aCallThatFailsTellsWhatItsCallerSees() {
        IllegalStateException broken = new IllegalStateException();
        assertFails(test.submit("db", () -> {
            throw broken;
        }));

        assertThat(log.events).containsExactly("submitted", "started", "finished ERROR");
        assertThat(log.failures).containsExactly(broken);
    }

    @Test
    void aCallIsFinishedWhenItsPermitIsBackAndItsFutureIsNot() {
        CompletableFuture<String> seen = new CompletableFuture<>();
        AtomicFuture future = new AtomicFuture();
        log.onFinished = call -> seen.complete(test.limit("db").available() + " free, done: " + future.isDone());

        future.set(test.submit("db", () -> {
            await(gate);
            return null;
        }));
        gate.countDown();

        assertThat(seen.join()).isEqualTo("1 free, done: false");
    }

    @Test
    void aRunningCallThatIsCancelledIsFinishedAsCancelled() {
        CompletableFuture<?> running = test.hold("db", gate);

        running.cancel(true);
        awaitIdle(test);

        assertThat(log.events).containsExactly("submitted", "started", "finished CANCELLED");
    }

    @Test
    void aRunningCallThatIsCancelledWithoutAnInterruptIsFinishedAsCancelledWhenItsBodyEnds() {
        CountDownLatch running = test.latch();
        CompletableFuture<?> future = test.submit("db", () -> {
            running.countDown();
            await(gate);
            return "value";
        });
        await(running);

        future.cancel(false);
        assertThat(log.events).containsExactly("submitted", "started");
        gate.countDown();
        awaitIdle(test);

        assertThat(log.events).containsExactly("submitted", "started", "finished CANCELLED");
        assertThat(log.failures).isEmpty();
    }

    @Test
    void aWaitingCallThatIsCancelledIsFinishedWithoutAStart() {
        test.hold("db", gate);
        log.events.clear();

        test.submit("db", () -> null).cancel(true);

        assertThat(log.events).containsExactly("submitted", "finished CANCELLED");
    }

    @Test
    void aCallThatRunsTooLongIsFinishedAsTimedOut() {
        TaskSpec spec = test.engine.spec("Test.slow", "db", Duration.ofMillis(1));
        assertFails(test.engine.submit(spec, () -> {
            gate.await();
            return null;
        }));
        awaitIdle(test);

        assertThat(log.events).containsExactly("submitted", "started", "finished TIMEOUT");
        assertThat(log.failures).singleElement().satisfies(failure -> {
            assertThat(failure).isInstanceOf(TimeoutException.class);
            assertThat(failure.getSuppressed())
                    .as("what the body made of it")
                    .hasExactlyElementsOfTypes(InterruptedException.class);
        });
    }

    @Test
    void aRefusedCallIsRejectedAndNeverFinished() {
        test.hold("db", gate);
        test.submit("db", () -> null);
        log.events.clear();

        CompletableFuture<?> refused = test.submit("db", () -> null);

        assertFails(refused);
        assertThat(log.events).containsExactly("submitted", "rejected QUEUE_FULL");
    }

    @Test
    void aCallThatWaitedTooLongIsRejected() {
        test.hold("slow", gate);
        log.events.clear();

        assertFails(test.submit("slow", () -> null));

        assertThat(log.events).containsExactly("submitted", "rejected WAIT_TIMEOUT");
        assertThat(log.waits.get(log.waits.size() - 1)).isGreaterThanOrEqualTo(Duration.ofMillis(1));
    }

    @Test
    void whatACallHasWaitedBeginsWhenItIsMade() {
        CompletableFuture<Duration> waited = new CompletableFuture<>();
        log.onStarted = call -> waited.complete(call.waited());
        long begin = System.nanoTime();

        test.submit("db", () -> null).join();

        assertThat(waited.join()).isLessThanOrEqualTo(Duration.ofNanos(System.nanoTime() - begin));
    }

    @Test
    void aCallAfterTheStopIsRejected() {
        test.engine.stop(Duration.ZERO);

        assertFails(test.submit(null, () -> null));

        assertThat(log.events).containsExactly("submitted", "rejected SHUTDOWN");
    }

    @Test
    void aCallWhoseThreadCannotBeStartedIsFinishedWithoutAStart() {
        OutOfMemoryError shortage = new OutOfMemoryError("no thread");
        AtomicInteger asked = new AtomicInteger();
        assertFails(test.submit(
                "db",
                body -> {
                    if (asked.getAndIncrement() == 0) {
                        throw shortage;
                    }
                    return Thread.ofVirtual().unstarted(body);
                },
                () -> null));

        assertThat(log.events).containsExactly("submitted", "finished ERROR");
        assertThat(log.failures).containsExactly(shortage);
    }

    @Test
    void aCallOnItsCallersThreadIsHeardOfToo() throws Throwable {
        TaskSpec spec = test.engine.spec("Test.call", "db");

        assertThat(test.engine.call(spec, () -> List.copyOf(log.events))).isEqualTo(List.of("submitted", "started"));

        assertThat(log.events).containsExactly("submitted", "started", "finished SUCCESS");
    }

    @Test
    void aCallOnItsCallersThreadThatIsRefusedIsRejected() {
        test.hold("db", gate);
        test.submit("db", () -> null);
        log.events.clear();

        assertThatThrownBy(() -> test.engine.call(test.engine.spec("Test.call", "db"), () -> null))
                .isInstanceOf(LimitExceededException.class);

        assertThat(log.events).containsExactly("submitted", "rejected QUEUE_FULL");
    }

    @Test
    void aCallOnItsCallersThreadThatIsInterruptedWhileItWaitsIsCancelled() {
        test.hold("db", gate);
        log.events.clear();
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> test.engine.call(test.engine.spec("Test.call", "db"), () -> null))
                .isInstanceOf(InterruptedException.class);

        assertThat(log.events).containsExactly("submitted", "finished CANCELLED");
    }

    @Test
    void theContextOfTheCallerIsThereWhenACallStartsAndEnds() {
        MDC.put("user", "alice");
        log.onStarted = call -> log.events.add("start of " + MDC.get("user"));
        log.onFinished = call -> log.events.add("end of " + MDC.get("user"));

        test.submit("db", () -> null).join();

        assertThat(log.events).contains("start of alice", "end of alice");
    }

    @Test
    void eachCallHasANumberOfItsOwnWhichStaysTheSame() {
        Map<Long, TaskCall> numbers = new ConcurrentHashMap<>();
        log.onSubmitted = call -> numbers.put(call.id(), call);
        AtomicInteger same = new AtomicInteger();
        log.onFinished = call -> same.addAndGet(numbers.get(call.id()) == call ? 1 : 0);

        test.submit(null, () -> null).join();
        test.submit(null, () -> null).join();

        assertThat(numbers.keySet()).hasSize(2).allMatch(number -> number > 0);
        assertThat(same).hasValue(2);
    }

    /** Asked about a future that may not be there yet. */
    private static final class AtomicFuture {

        private final CompletableFuture<Future<?>> future = new CompletableFuture<>();

        void set(Future<?> known) {
            future.complete(known);
        }

        boolean isDone() {
            return future.join().isDone();
        }
    }
}
