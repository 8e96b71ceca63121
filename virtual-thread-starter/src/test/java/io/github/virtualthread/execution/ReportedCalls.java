package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An engine that reports its calls to a listener, which notes them. */
abstract class ReportedCalls {

    final Log log = new Log();

    @RegisterExtension
    final TestEngine test = new TestEngine(
            log,
            LimitSettings.of("db", 1).withQueueCapacity(1),
            LimitSettings.of("slow", 1).withMaxWait(Duration.ofMillis(1)));

    final CountDownLatch gate = test.latch();

    static final class Log implements TaskListener {

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
