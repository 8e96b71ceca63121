package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimit;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the log says of full limits. */
@Timeout(300)
@Tag("jdk")
class FullLimitWatchTests extends WatchedCalls {

    @Test
    void aFullLimitSpeaksUpOnceAndSaysWhenItIsOver() {
        CallWatch watch = watch(Duration.ofNanos(1), null);
        watch.look();
        test.hold("db", gate);
        test.hold("db", gate);
        watch.look();
        List<CompletableFuture<?>> waiting = List.of(test.submit("db", () -> null), test.submit("db", () -> null));

        watch.look();
        watch.look();
        assertThat(messages())
                .containsExactly("WARN Limit 'db' full for N s: 2 of 2 running, oldest N s in Test.task; 2 waiting,"
                        + " oldest N s; 0 rejected since; 0 finished in the last minute");

        gate.countDown();
        waiting.forEach(CompletableFuture::join);
        watch.look();
        watch.look();
        assertThat(messages())
                .filteredOn(message -> message.startsWith("INFO"))
                .containsExactly("INFO Limit 'db' is no longer full, after N s");
    }

    @Test
    void limitsWithinEachOtherCountTheSameCallsAndSayWhoIsFull() throws Exception {
        CallWatch watch = watch(Duration.ofNanos(1), null);
        test.hold("report", gate);
        VirtualThreads threads = new VirtualThreads(test.engine, (task, failure) -> {});
        CountDownLatch inside = new CountDownLatch(1);
        CompletableFuture<?> lender = test.submit(
                "db",
                () -> threads.all("db", List.of(() -> {
                    inside.countDown();
                    gate.await();
                    return "under the lent permit";
                })));
        await(inside);
        List<CompletableFuture<?>> waiting =
                List.of(test.submit("report", () -> null), test.submit("report", () -> null));

        watch.look();

        assertThat(messages())
                .containsExactlyInAnyOrder(
                        "WARN Limit 'db' full for N s: 2 of 2 running, oldest N s in Test.task; 0 waiting, 2 more under"
                                + " limits within it; 0 rejected since; 0 finished in the last minute",
                        "WARN Limit 'report' full for N s: 1 of 2 running, oldest N s in Test.task; limit db around"
                                + " it has 0 of 2; 2 waiting, oldest N s; 0 rejected since; 0 finished in the last minute");
        gate.countDown();
        waiting.forEach(CompletableFuture::join);
        lender.join();
    }

    /** All permits were held for 52 s, and 3,000 of 3,000 calls rejected, without a word. */
    @Test
    void aFullLimitWithoutAQueueSpeaksUpToo() {
        CallWatch watch = watch(Duration.ofNanos(1), null);
        CountDownLatch before = test.latch();
        CompletableFuture<?> earlier = test.hold("strict", before);
        test.submit("strict", () -> null);
        watch.look();
        before.countDown();
        earlier.join();
        TestEngine.awaitIdle(test);
        watch.look();
        log.events.clear();

        test.hold("strict", gate);
        for (int i = 0; i < 3_000; i++) {
            test.submit("strict", () -> null);
        }
        watch.look();

        assertThat(messages())
                .containsExactly("WARN Limit 'strict' full for N s: 1 of 1 running, oldest N s in Test.task; 0 waiting;"
                        + " 3,000 rejected since; 1 finished in the last minute");
    }

    @Test
    void aLimitThatTheApplicationOccupiesSaysSo() {
        CallWatch watch = watch(Duration.ofNanos(1), null);
        CompletableFuture<?> waiting;
        try (TaskLimit.Occupation occupied = test.limits.get("mail").occupy()) {
            assertThat(occupied).isNotNull();
            waiting = test.submit("mail", () -> null);
            watch.look();
        }

        assertThat(messages())
                .containsExactly(
                        "WARN Limit 'mail' full for N s: 0 of 1 running; occupied by the application; 1 waiting,"
                                + " oldest N s; 0 rejected since; 0 finished in the last minute");
        waiting.join();
    }

    @Test
    void aStopIsNotTheEndOfASaturation() {
        CallWatch watch = watch(Duration.ofNanos(1), null);
        test.hold("mail", gate);
        test.submit("mail", () -> null);
        watch.look();

        test.engine.stop(Duration.ZERO);
        watch.look();
        test.engine.start();
        watch.look();

        assertThat(messages()).singleElement().asString().startsWith("WARN Limit 'mail' full for N s");
    }

    @Test
    void whatFinishedInTheLastMinuteIsCounted() {
        CallWatch watch = watch(Duration.ofNanos(1), null);
        test.submit("mail", () -> null).join();
        test.submit("mail", () -> null).join();
        test.hold("mail", gate);
        test.submit("mail", () -> null);

        watch.look();

        assertThat(messages()).singleElement().asString().endsWith("; 2 finished in the last minute");
    }

    @Test
    void aLimitThatIsFullForAShorterTimeSaysNothing() {
        CallWatch watch = watch(Duration.ofHours(1), null);
        test.hold("mail", gate);
        test.submit("mail", () -> null);

        watch.look();

        assertThat(messages()).isEmpty();
    }
}
