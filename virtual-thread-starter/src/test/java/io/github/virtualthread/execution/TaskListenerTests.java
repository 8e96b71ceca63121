package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertFails;
import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitIdle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;

/** What a listener hears of each call. */
@Timeout(300)
@Tag("jdk")
class TaskListenerTests {

    private final Log log = new Log();

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            log,
            LimitSettings.of("db", 1).withQueueCapacity(1),
            LimitSettings.of("slow", 1).withMaxWait(Duration.ofMillis(1)));

    private final CountDownLatch gate = test.latch();

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
    void aBrokenListenerLosesNeitherCallNorPermitNorTheOtherListeners() {
        log.onSubmitted = TaskListenerTests::fail;
        log.onStarted = TaskListenerTests::fail;
        log.onFinished = TaskListenerTests::fail;

        assertThat(test.submit("db", () -> "value").join()).isEqualTo("value");
        assertThat(test.submit("db", () -> "again").join()).isEqualTo("again");
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aCallThatNoListenerHearsIsReportedToNone() {
        log.hears = spec -> false;

        test.submit("db", () -> "value").join();

        assertThat(log.events).isEmpty();
    }

    @Test
    void aCallThatNoListenerHearsIsReportedToNoneHoweverItEnds() {
        log.hears = spec -> false;
        CompletableFuture<?> running = test.hold("db", gate);
        CompletableFuture<?> waiting = test.submit("db", () -> null);

        assertFails(test.submit("db", () -> null));
        assertThatThrownBy(() -> test.engine.call(test.engine.spec("Test.call", "db"), () -> null))
                .isInstanceOf(LimitExceededException.class);
        waiting.cancel(true);
        running.cancel(true);
        awaitIdle(test);

        assertThat(log.events).isEmpty();
        assertThat(test.engine.parts().rejections().total("db"))
                .as("what the log counts")
                .isEqualTo(2);
    }

    @Test
    void aCallThatNoListenerHearsHasWaitedSinceItJoinedTheQueue() {
        log.hears = spec -> false;
        CompletableFuture<?> first = test.submit("db", () -> {
            await(gate);
            return waited();
        });
        CompletableFuture<?> second = test.submit("db", this::waited);
        gate.countDown();

        assertThat(first.join()).isEqualTo(Duration.ZERO);
        assertThat((Duration) second.join()).isPositive();
    }

    /** Of the call that runs on the current thread. */
    private Duration waited() {
        return test.engine
                .liveCalls()
                .onThread(Thread.currentThread().threadId())
                .orElseThrow()
                .call()
                .waited();
    }

    @Test
    void aCallIsHeardFromItsSubmissionToItsEndOrNotAtAll() {
        log.hears = spec -> false;
        CompletableFuture<?> unheard = test.hold(null, gate);
        log.hears = spec -> true;
        gate.countDown();
        unheard.join();
        assertThat(log.events).isEmpty();

        CountDownLatch another = test.latch();
        CompletableFuture<?> heard = test.hold(null, another);
        log.hears = spec -> false;
        another.countDown();
        heard.join();

        assertThat(log.events).containsExactly("submitted", "started", "finished SUCCESS");
    }

    @Test
    void aCallThatOneListenerHearsIsReportedToAll() {
        Log deaf = new Log();
        deaf.hears = spec -> false;
        try (TestEngine both = TestEngine.listening(List.of(deaf, log))) {
            both.submit(null, () -> "value").join();
        }

        assertThat(log.events).containsExactly("submitted", "started", "finished SUCCESS");
        assertThat(deaf.events).isEqualTo(log.events);
    }

    @Test
    void aListenerThatCannotSayWhetherItHearsIsNotified() {
        log.hears = spec -> {
            throw new IllegalStateException("broken listener");
        };

        assertThat(test.submit("db", () -> "value").join()).isEqualTo("value");

        assertThat(log.events).containsExactly("submitted", "started", "finished SUCCESS");
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

    @Test
    void listenersThatAreNotThereYetAreLookedForAgain() {
        AtomicInteger asked = new AtomicInteger();
        TaskListeners listeners = new TaskListeners(new LazyBeans<>("Listeners", () -> {
            if (asked.getAndIncrement() == 0) {
                throw new IllegalStateException("in creation");
            }
            return List.of(log);
        }));
        Task call = new Task(test.engine.spec("Test.task", null), () -> null, null);

        listeners.notifyEach(call, TaskListeners.SUBMITTED, null, null);
        listeners.notifyEach(call, TaskListeners.SUBMITTED, null, null);
        listeners.notifyEach(call, TaskListeners.SUBMITTED, null, null);

        assertThat(log.events).containsExactly("submitted", "submitted");
        assertThat(asked).hasValue(2);
    }

    @Test
    void whoDidNotHearOfASubmissionDoesNotHearOfTheEnd() {
        List<TaskListener> found = new CopyOnWriteArrayList<>();
        Supplier<List<TaskListener>> lookup = () -> {
            if (found.isEmpty()) {
                throw new IllegalStateException("in creation");
            }
            return found;
        };
        try (TaskEngine engine = new TaskEngine(
                test.limits,
                ContextPropagation.none(),
                test.timer,
                new TaskThreads("vt-", TestEngine.APPLICATION),
                new CallExtensions(lookup, List::of),
                false)) {
            Task early = new Task(engine.spec("Test.task", null), () -> null, null);

            early.observe();
            found.add(log);
            early.started();
            early.finished(TaskListener.Outcome.SUCCESS, null);
        }

        assertThat(log.events).isEmpty();
    }

    private static void fail(TaskCall call) {
        throw new IllegalStateException("broken listener");
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

    private static final class Log implements TaskListener {

        final List<String> events = new CopyOnWriteArrayList<>();
        final List<Throwable> failures = new CopyOnWriteArrayList<>();
        final List<Duration> waits = new CopyOnWriteArrayList<>();
        Consumer<TaskCall> onSubmitted = call -> {};
        Consumer<TaskCall> onStarted = call -> {};
        Consumer<TaskCall> onFinished = call -> {};
        volatile Predicate<TaskSpec> hears = spec -> true;

        @Override
        public boolean hears(TaskSpec spec) {
            return hears.test(spec);
        }

        @Override
        public void submitted(TaskCall call) {
            assertThat(call.isStarted()).isFalse();
            events.add("submitted");
            onSubmitted.accept(call);
        }

        @Override
        public void started(TaskCall call) {
            assertThat(call.isStarted()).isTrue();
            events.add("started");
            onStarted.accept(call);
        }

        @Override
        public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
            events.add("finished " + outcome);
            if (failure != null) {
                failures.add(failure);
            }
            onFinished.accept(call);
        }

        @Override
        public void rejected(TaskCall call, LimitExceededException rejection) {
            waits.add(call.waited());
            events.add("rejected " + rejection.reason());
        }
    }
}
