package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.ENOUGH;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimits;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An engine whose calls are watched, and what the log says of them. */
abstract class WatchedCalls {

    final BlockingQueue<TaskCall> stuck = new LinkedBlockingQueue<>();

    final CompletableFuture<ClassLoader> loader = new CompletableFuture<>();

    @RegisterExtension
    final TestEngine test = new TestEngine(
            new TaskListener() {
                @Override
                public void stuck(TaskCall call) {
                    loader.complete(Thread.currentThread().getContextClassLoader());
                    stuck.add(call);
                }
            },
            LimitSettings.of("db", 2),
            LimitSettings.of("mail", 1),
            LimitSettings.of("report", 2).withWithin("db"),
            LimitSettings.of("strict", 1).withQueueCapacity(0));

    @RegisterExtension
    final QueueAppender log = new QueueAppender(CallWatch.class, Level.INFO);

    final CountDownLatch gate = test.latch();

    @Nullable
    CallWatch watch;

    @AfterEach
    void stop() {
        if (watch != null) {
            watch.stop();
        }
        awaitEnd(); // or it would write into the log of the next test
    }

    CallWatch watch(Duration saturated, @Nullable Duration stuckAfter) {
        return watch(test.limits, saturated, stuckAfter);
    }

    CallWatch watch(TaskLimits limits, Duration saturated, @Nullable Duration stuckAfter) {
        CallWatch made = new CallWatch(
                test.engine, limits, saturated, stuckAfter, "watch-test-" + hashCode() + "-", Duration.ofMillis(1));
        watch = made;
        return made;
    }

    void awaitEnd() {
        long begin = System.nanoTime();
        while (!threads().isEmpty()) {
            assertThat(System.nanoTime() - begin).isLessThan(ENOUGH.toNanos());
            Thread.yield();
        }
    }

    List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("watch-test-" + hashCode() + "-watch"))
                .toList();
    }

    /** A busy machine may need seconds for what takes none. */
    List<String> messages() {
        return log.events.stream()
                .map((ILoggingEvent event) ->
                        event.getLevel() + " " + event.getFormattedMessage().replaceAll("\\d+ s\\b", "N s"))
                .toList();
    }
}
