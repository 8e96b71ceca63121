package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.awaitStubbornly;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(value = 5, unit = TimeUnit.MINUTES)
@Tag("jdk")
class CompleterTests {

    private static final Exception FAILURE = new IOException("stopped");

    @RegisterExtension
    private final TestEngine test = new TestEngine();

    private final CountDownLatch release = test.latch();
    private final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final Completer completer = new Completer(
            test.engine.parts().threads(), task -> () -> task.future().completeExceptionally(FAILURE));

    private List<Task> tasks(int number) {
        TaskSpec spec = test.engine.spec("Shop.price", null);
        return Stream.generate(() -> new Task(spec, () -> null, null))
                .limit(number)
                .toList();
    }

    /** Platform threads, as many as that; then none can be had. */
    private ThreadFactory threads(int most) {
        return action -> {
            if (threads.size() == most) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            Thread thread = Thread.ofPlatform().daemon().unstarted(action);
            threads.add(thread);
            return thread;
        };
    }

    private static long open(List<Task> tasks) {
        return tasks.stream().filter(task -> !task.future().isDone()).count();
    }

    @Test
    void aFewThreadsTakeTheTurnsOfThoseThatCannotBeStarted() {
        List<Task> tasks = tasks(1_000);

        completer.byTurns(tasks, threads(3), 64);

        assertThat(open(tasks)).isZero();
    }

    @Test
    void noMoreThreadsAreStartedThanThereMayBe() {
        List<Task> tasks = tasks(1_000);

        completer.byTurns(tasks, threads(1_000), 64);

        assertThat(open(tasks)).isZero();
        assertThat(threads).hasSize(64);
    }

    @Test
    void oneThreadCompletesAllThoughWhatHangsOnEachBlocks() {
        List<Task> tasks = tasks(10_000);
        CompletableFuture<Thread> continued = new CompletableFuture<>();
        tasks.forEach(task -> task.future().whenComplete((value, failure) -> {
            continued.complete(Thread.currentThread());
            awaitStubbornly(release);
        }));

        completer.all(tasks, Duration.ofMinutes(1));

        assertThat(open(tasks)).isZero();
        assertThat(continued.join()).isNotSameAs(Thread.currentThread());
    }

    @Test
    void whereNoThreadCanBeHadTheCurrentOneCompletesAll() {
        List<Task> tasks = tasks(10_000);
        List<Thread> continued = new ArrayList<>();
        tasks.forEach(task -> task.future().whenComplete((value, failure) -> continued.add(Thread.currentThread())));

        completer.byTurns(tasks, threads(0), 64);
        assertThat(open(tasks)).isEqualTo(10_000);
        completer.all(tasks, Duration.ofMinutes(1), threads(0));

        assertThat(open(tasks)).isZero();
        assertThat(continued).hasSize(10_000).containsOnly(Thread.currentThread());
    }

    @Tag("slow")
    @Test
    void aCompletionThatFailsDoesNotEndTheOthers() {
        List<Task> tasks = tasks(100);
        Completer completer = new Completer(test.engine.parts().threads(), task -> {
            if (task == tasks.get(0)) {
                throw new OutOfMemoryError();
            }
            return () -> task.future().cancel(false);
        });

        completer.all(tasks, Duration.ofSeconds(1));

        assertThat(open(tasks)).isEqualTo(1);
    }

    @Test
    void anInterruptThatIsLeftBehindIsNotSeenByWhatHangsOnTheNext() {
        List<Task> tasks = tasks(2);
        List<Boolean> interrupted = new ArrayList<>();
        tasks.forEach(task -> task.future().whenComplete((value, failure) -> {
            interrupted.add(Thread.currentThread().isInterrupted());
            Thread.currentThread().interrupt();
        }));

        completer.byTurns(tasks, threads(1), 1);
        threads.forEach(thread -> {
            try {
                thread.join();
            } catch (InterruptedException unexpected) {
                throw new AssertionError(unexpected);
            }
        });

        assertThat(interrupted).containsExactly(false, false);
    }
}
