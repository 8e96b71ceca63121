package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** When the watch looks, and what a look that fails leaves. */
@Timeout(300)
@Order(Integer.MAX_VALUE) // it mocks
@Tag("jdk")
class CallWatchTests extends WatchedCalls {

    @Test
    void itLooksOnAfterALookThatFailed() throws Exception {
        CallWatch watch = watch(Duration.ofNanos(1), null);
        test.hold("mail", gate);
        test.submit("mail", () -> null);

        try (BrokenLog broken = new BrokenLog(CallWatch.class)) {
            watch.start();
            assertThat(log.next()).asString().contains("Limit 'mail' full");
            assertThat(log.next()).asString().contains("could not be checked");
        }
        gate.countDown();

        assertThat(log.next()).asString().contains("Limit 'mail' is no longer full");
    }

    /** What a look needs may be missing, and what is needed to say so, and to look again. */
    @Test
    void itLooksOnWhileNothingWorks() throws Exception {
        CountDownLatch looks = new CountDownLatch(3);
        TaskLimit limit = test.limits.get("mail");
        AtomicBoolean started = new AtomicBoolean();
        TaskLimits broken = mock(TaskLimits.class, invocation -> {
            if (started.compareAndSet(false, true)) {
                return List.of(limit);
            }
            looks.countDown();
            Thread.currentThread().interrupt(); // as a listener may
            throw new OutOfMemoryError("for a test");
        });
        CallWatch watch = watch(broken, Duration.ofNanos(1), null);

        try (BrokenLog noLog = new BrokenLog(CallWatch.class)) {
            watch.start();

            await(looks);
        }
        assertThat(threads()).hasSize(1);
    }

    @Test
    void aListenerSeesTheClassLoaderOfTheApplication() {
        CallWatch watch = watch(Duration.ZERO, Duration.ZERO);
        test.hold("mail", gate);

        watch.start();

        assertThat(loader).succeedsWithin(Duration.ofMinutes(2)).isEqualTo(TestEngine.APPLICATION);
    }

    @Test
    void oneLookDoesNotKeepOthersFromLooking() throws Exception {
        CallWatch watch = watch(Duration.ofNanos(1), null);
        watch.look();

        Thread other = Thread.ofPlatform().daemon().start(watch::look);

        assertThat(other.join(Duration.ofMinutes(2))).isTrue();
    }

    @Test
    void looksByItselfBetweenStartAndStop() throws InterruptedException {
        CallWatch watch = watch(Duration.ofNanos(1), null);
        test.hold("mail", gate);
        test.submit("mail", () -> null);
        assertThat(log.events).isEmpty();

        watch.start();
        assertThat(log.next()).isNotNull();
        assertThat(threads()).hasSize(1);

        watch.stop();
        awaitEnd();
    }

    @Test
    void looksAgainAfterAStopAndAStart() throws InterruptedException {
        CallWatch watch = watch(Duration.ofNanos(1), null);
        watch.start();
        watch.stop();
        watch.start();
        test.hold("mail", gate);
        test.submit("mail", () -> null);

        assertThat(log.next()).isNotNull();
    }

    @Test
    void needsNoThreadWhereThereIsNothingToLookFor() {
        watch(Duration.ZERO, null).start();

        assertThat(threads()).isEmpty();
    }

    @Test
    void needsNoThreadBeforeACallUnderALimit() {
        TaskLimits limits = new TaskLimits(List.of(), new TaskTimer("unused"), change -> {});
        CallWatch watch = watch(limits, Duration.ofNanos(1), null);
        watch.start();
        assertThat(threads()).isEmpty();

        test.engine.spec("Free.task", null);
        assertThat(threads()).isEmpty();

        test.engine.spec("Limited.task", "db");
        assertThat(threads()).hasSize(1);

        watch.stop();
        awaitEnd();
        test.engine.spec("Limited.task", "db");
        assertThat(threads()).isEmpty();
    }

    @RepeatedTest(300)
    void noThreadOutlivesAStop() throws Exception {
        TaskLimits none = new TaskLimits(List.of(), new TaskTimer("unused"), change -> {});
        CallWatch watch = watch(none, Duration.ofNanos(1), null);
        watch.start();

        CyclicBarrier together = new CyclicBarrier(3);
        Callable<TaskSpec> call = () -> {
            together.await();
            return test.engine.spec("Limited.task", "db");
        };
        try (ExecutorService callers = Executors.newCachedThreadPool()) {
            Future<TaskSpec> first = callers.submit(call);
            Future<TaskSpec> second = callers.submit(call);
            together.await();
            watch.stop();
            first.get();
            second.get();
        }

        awaitEnd();
    }

    /** Bodies that keep all carriers busy are what somebody has to hear of. */
    @Test
    void speaksUpWhileAllCarriersAreBusy() throws InterruptedException {
        test.keepCarriers(Runtime.getRuntime().availableProcessors(), gate);

        watch(Duration.ZERO, Duration.ofNanos(1)).start();

        assertThat(log.next()).isNotNull();
    }
}
