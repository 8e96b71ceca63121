package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls that fail before they ask for a permit. */
@Timeout(300)
@Tag("jdk")
class FailedCallsTests {

    private final BlockingQueue<String> events = new LinkedBlockingQueue<>();

    @RegisterExtension
    private final TestEngine test = new TestEngine(new Events(), LimitSettings.of("db", 1));

    private final FailedCalls failed = new FailedCalls(test.engine);
    private final TaskSpec spec = test.engine.spec("Mailer.send", "db");
    private final IllegalArgumentException failure = new IllegalArgumentException("no key");

    @Test
    void aFutureHasTheFailureItself() {
        CompletableFuture<@Nullable Object> future = failed.submit(spec, failure);

        assertThat(future.exceptionNow()).isSameAs(failure);
        assertThat(events).containsExactly("submitted", "ERROR no key");
        assertNothingIsLeft();
    }

    @Test
    void theHandlerOfACallWithoutAResultGetsTheFailureOnAVirtualThread() throws Exception {
        BlockingQueue<List<Object>> told = new LinkedBlockingQueue<>();

        failed.execute(
                spec,
                failure,
                (task, each) -> told.add(List.of(each, Thread.currentThread().isVirtual())));

        assertThat(told.poll(2, TimeUnit.MINUTES)).containsExactly(failure, true);
        test.engine.stop(TestEngine.ENOUGH);
        assertThat(told).isEmpty();
        assertThat(events).containsExactly("submitted", "ERROR no key");
        assertNothingIsLeft();
    }

    @Test
    void aCallOnItsCallersThreadIsReported() {
        failed.call(spec, failure);

        assertThat(events).containsExactly("submitted", "ERROR no key");
        assertNothingIsLeft();
    }

    @Test
    void aCallWithoutALimitOnItsCallersThreadIsNoCall() {
        failed.call(test.engine.spec("Mailer.send", null), failure);

        assertThat(events).isEmpty();
    }

    @Test
    void aFullLimitMakesNoDifference() {
        test.submit("db", () -> {
            test.latch().await();
            return null;
        });
        test.limits.get("db").setQueueCapacity(0);

        assertThat(failed.submit(spec, failure).exceptionNow()).isSameAs(failure);
        assertThat(test.limits.get("db").waiting()).isZero();
    }

    private void assertNothingIsLeft() {
        assertThat(test.engine.isIdle()).isTrue();
        assertThat(test.limits.get("db").available()).isOne();
    }

    private final class Events implements TaskListener {

        @Override
        public void submitted(TaskCall call) {
            events.add("submitted");
        }

        @Override
        public void started(TaskCall call) {
            events.add("started");
        }

        @Override
        public void finished(TaskCall call, Outcome outcome, @Nullable Throwable thrown) {
            events.add(outcome + (thrown == null ? "" : " " + thrown.getMessage()));
        }
    }
}
