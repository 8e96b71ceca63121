package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertFails;
import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitIdle;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitExceededException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which calls are reported, and to which listeners. */
@Timeout(300)
@Tag("jdk")
class UnheardCallsTests extends ReportedCalls {

    @Test
    void aBrokenListenerLosesNeitherCallNorPermitNorTheOtherListeners() {
        log.onSubmitted = UnheardCallsTests::fail;
        log.onStarted = UnheardCallsTests::fail;
        log.onFinished = UnheardCallsTests::fail;

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
}
