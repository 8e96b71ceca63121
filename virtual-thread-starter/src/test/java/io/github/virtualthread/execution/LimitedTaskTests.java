package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertThrowsRejection;
import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.MDC;

/** Tasks that take their permit where they are called. */
@Timeout(300)
@Tag("jdk")
class LimitedTaskTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            ContextPropagation.none().withMdc(),
            LimitSettings.of("db", 1),
            LimitSettings.of("two", 2),
            LimitSettings.of("full", 1).withQueueCapacity(0),
            LimitSettings.of("strict", 1).withNested(Nested.FAIL));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(PermitHolders.class);

    private final VirtualThreads threads = new VirtualThreads(test.engine, (task, failure) -> {});
    private final ExecutorService others = Executors.newVirtualThreadPerTaskExecutor();
    private final CountDownLatch release = test.latch();

    @AfterEach
    void stop() {
        others.shutdownNow();
    }

    @Test
    void itRunsOnTheThreadThatCallsItWithTheContextOfItsMaker() throws Exception {
        MDC.put("user", "alice");
        Callable<String> task =
                threads.limited("db", () -> Thread.currentThread().getName() + MDC.get("user"));
        MDC.put("user", "bob");

        FutureTask<String> here = new FutureTask<>(() -> {
            MDC.put("user", "carol");
            return task.call() + MDC.get("user");
        });
        Thread.ofPlatform().name("here ").start(here);

        assertThat(here.get(2, TimeUnit.MINUTES)).isEqualTo("here alicecarol");
        assertThat(test.limit("db").completed()).isEqualTo(1);
    }

    @Test
    void whatTheMakerDoesNotHaveIsHiddenFromTheTask() throws Exception {
        Callable<String> task = threads.limited("db", () -> "user " + MDC.get("user"));
        MDC.put("user", "bob");

        assertThat(task.call()).isEqualTo("user null");
        assertThat(MDC.get("user")).isEqualTo("bob");
    }

    @Test
    void aRejectionAndAFailureAreThrownAsTheyAre() {
        test.hold("full", release);

        assertThrowsRejection(Reason.QUEUE_FULL, threads.limited("full", () -> "never")::call);
        IOException down = new IOException("down");
        assertThatThrownBy(threads.limited("db", () -> {
                    throw down;
                })::call)
                .isSameAs(down);
        assertThatThrownBy(() -> threads.limited("bd", () -> "never"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bd");
    }

    @Test
    void theDeadlineOfTheMakerEndsTheWait() throws Exception {
        test.hold("db", release);
        Callable<String> task = Deadline.call(Duration.ofMillis(20), () -> threads.limited("db", () -> "never"));

        Future<String> fork = others.submit(task);

        assertThatThrownBy(() -> fork.get(2, TimeUnit.MINUTES))
                .hasCauseInstanceOf(LimitExceededException.class)
                .satisfies(thrown -> assertThat(((LimitExceededException) thrown.getCause()).reason())
                        .isEqualTo(Reason.DEADLINE));
    }

    @Test
    void theEarlierOfTwoDeadlinesCounts() throws Exception {
        Callable<Duration> task = Deadline.call(
                Duration.ofHours(2),
                () -> threads.limited("db", () -> Deadline.remaining().orElseThrow()));

        assertThat(task.call()).isGreaterThan(Duration.ofHours(1));
        assertThat(Deadline.call(Duration.ofHours(3), task)).isLessThan(Duration.ofHours(2));
        assertThat(Deadline.call(Duration.ofMinutes(59), task)).isLessThan(Duration.ofHours(1));
        assertThat(Deadline.remaining()).isEmpty();
    }

    @Test
    void onAThreadThatHoldsThePermitItRunsAtOnce() throws Exception {
        Callable<String> task = threads.limited("db", () -> "ran");

        assertThat(threads.call("db", task)).isEqualTo("ran");
        assertThat(log.events).isEmpty();
    }

    @Test
    void aMakerThatHoldsTheLastPermitIsReportedOnce() throws Exception {
        threads.call("db", () -> {
            threads.limited("db", () -> "first");
            return threads.limited("db", () -> "second");
        });

        assertThat(log.events)
                .extracting(ILoggingEvent::getFormattedMessage)
                .singleElement()
                .asString()
                .startsWith(
                        "LimitedTaskTests.lambda calls LimitedTaskTests.lambda while it holds a permit of limit 'db', and no"
                                + " other permit is free.");
    }

    @Test
    void aMakerIsNotReportedWhileAnotherPermitIsFree() throws Exception {
        threads.call("two", () -> threads.limited("two", () -> "ran"));

        assertThat(log.events).isEmpty();
    }

    @Test
    void aMakerThatHoldsTheLastPermitOfAStrictLimitIsRejected() {
        assertThrowsRejection(
                Reason.NESTED, () -> threads.call("strict", () -> threads.limited("strict", () -> "never")));
        assertThat(test.limit("strict").available()).isEqualTo(1);
    }

    @Test
    void aMakerUnderALimitThatOnlyWatchesIsNeitherReportedNorRejected() throws Exception {
        for (String name : List.of("db", "strict")) {
            test.limit(name).change(now -> now.withDryRun(true));

            assertThat(threads.call(
                            name, () -> threads.limited(name, () -> "ran").call()))
                    .isEqualTo("ran");
        }

        assertThat(log.events).isEmpty();
    }

    @Test
    void itMayBeCalledAgain() throws Exception {
        Callable<Integer> task = threads.limited("db", new AtomicInteger()::incrementAndGet);
        CountDownLatch both = new CountDownLatch(2);
        Callable<Integer> counted = () -> {
            both.countDown();
            return task.call();
        };

        List<Future<Integer>> calls = List.of(others.submit(counted), others.submit(counted));
        await(both);

        assertThat(List.of(calls.get(0).get(), calls.get(1).get())).containsExactlyInAnyOrder(1, 2);
    }
}
