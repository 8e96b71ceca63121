package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.assertThrowsRejection;
import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tasks under a limit whose caller holds a permit of it, most of them with a single permit. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD)
@Tag("jdk")
class LendingTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 1),
            LimitSettings.of("report", 1).withWithin("db"),
            LimitSettings.of("two", 2),
            LimitSettings.of("strict", 1).withNested(Nested.FAIL),
            LimitSettings.of("full", 1).withQueueCapacity(0),
            LimitSettings.of("impatient", 1).withMaxWait(Duration.ofMillis(10)),
            LimitSettings.of("hopeless", 1).withRejectHopeless(true));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(PermitHolders.class);

    private final VirtualThreads threads = new VirtualThreads(test.engine, (task, failure) -> {});
    private final CountDownLatch release = test.latch();
    private final AtomicInteger running = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();

    @AfterEach
    void allPermitsAreBack() {
        TestEngine.awaitIdle(test);
        test.assertAllPermitsAreBack();
        assertThat(log.events).isEmpty();
    }

    private List<Callable<Integer>> counting(int number) {
        return IntStream.range(0, number)
                .<Callable<Integer>>mapToObj(each -> () -> {
                    most.accumulateAndGet(running.incrementAndGet(), Math::max);
                    Thread.yield();
                    running.decrementAndGet();
                    return each;
                })
                .toList();
    }

    private String blocked() throws InterruptedException {
        running.incrementAndGet();
        release.await();
        return "released";
    }

    /** The permit of the caller comes to each of them, also after half of the time. */
    @Tag("slow")
    @Test
    void noneOfThemIsHopeless() {
        Duration deadline = Duration.ofSeconds(20);
        CompletableFuture<?> done = test.submit(
                "hopeless",
                () -> Deadline.call(deadline, () -> threads.all(
                                "hopeless", List.of(LendingTests::awaitSecondHalf, () -> 1, () -> 2))
                        .size()));

        assertThat(done).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(3);
    }

    private static int awaitSecondHalf() {
        while (Deadline.remaining().orElseThrow().toMillis() >= 9_900) {
            LockSupport.parkNanos(1_000_000);
        }
        return 0;
    }

    @ParameterizedTest
    @ValueSource(strings = {"db", "strict", "impatient"})
    void theTasksRunOneAfterTheOtherUnderTheOnlyPermit(String limit) throws Exception {
        int number = limit.equals("impatient") ? 1 : 50;

        assertThat(threads.call(limit, () -> threads.all(limit, counting(number))))
                .containsExactlyElementsOf(IntStream.range(0, number).boxed().toList());
        assertThat(test.submit(limit, () -> threads.all(limit, counting(number)).size()))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo(number);

        assertThat(most.get()).isOne();
        TestEngine.awaitIdle(test);
        assertThat(test.limit(limit).completed()).isEqualTo(2);
    }

    @Test
    void aTaskRunsAlsoWhereNobodyMayWait() throws Exception {
        assertThat(threads.call("full", () -> threads.all("full", counting(1)))).containsExactly(0);
        assertThrowsRejection(
                Reason.QUEUE_FULL,
                () -> threads.call("full", () -> threads.all("full", List.of(this::blocked, this::blocked))));
    }

    @Test
    void whoWaitsTooLongIsRefusedAllTheSame() {
        assertThrowsRejection(
                Reason.WAIT_TIMEOUT,
                () -> threads.call("impatient", () -> threads.all("impatient", List.of(this::blocked, this::blocked))));
        assertThat(running.get()).isOne();
    }

    @Test
    void freePermitsAreUsedBesideTheLentOne() throws Exception {
        CountDownLatch pair = new CountDownLatch(2);
        Callable<String> meeting = () -> {
            pair.countDown();
            await(pair);
            return "met";
        };

        assertThat(threads.call("two", () -> threads.all("two", List.of(meeting, meeting))))
                .containsExactly("met", "met");
    }

    @Test
    void theFirstSuccessEndsTheRest() throws Exception {
        List<Callable<String>> tasks = new ArrayList<>();
        tasks.add(() -> {
            throw new IOException("down");
        });
        tasks.add(() -> "second");
        tasks.addAll(Collections.nCopies(20, this::blocked));

        assertThat(threads.call("db", () -> threads.anySuccessful("db", tasks))).isEqualTo("second");
    }

    @Test
    void aFailureEndsTheRest() {
        List<Callable<String>> tasks = new ArrayList<>();
        tasks.add(() -> {
            throw new IOException("down");
        });
        tasks.addAll(Collections.nCopies(20, this::blocked));

        assertThatThrownBy(() -> threads.call("db", () -> threads.all("db", tasks)))
                .isInstanceOf(IOException.class)
                .hasMessage("down");
    }

    @Test
    void aTaskThatHasBorrowedThePermitHoldsIt() throws Exception {
        Callable<Object> grandchildren = () -> threads.call("db", () -> threads.all("db", counting(3)));

        assertThat(threads.call("db", () -> threads.all("db", List.of(grandchildren, grandchildren))))
                .containsExactly(List.of(0, 1, 2), List.of(0, 1, 2));
        assertThat(most.get()).isOne();
    }

    @Test
    void aPermitOfALimitWithinIsLentToo() throws Exception {
        assertThat(threads.call("report", () -> threads.all("db", counting(5)))).hasSize(5);
        assertThat(most.get()).isOne();
    }

    @Test
    void aTaskThatRunsUnderALentPermitIsSeenAndCanBeCancelled() {
        CompletableFuture<@Nullable Object> outer =
                test.submit("db", () -> threads.all("db", List.of(this::blocked, this::blocked)));
        Awaitility.await().atMost(TestEngine.ENOUGH).until(() -> running.get() == 1);

        List<LiveCall> live = test.engine.liveCalls().running(test.limit("db"));
        assertThat(live).hasSize(2).allMatch(each -> each.call().isStarted());
        assertThat(test.engine.liveCalls().cancel(live.get(1).call().id())).isPresent();

        assertThat(outer).failsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void aCancelOfTheCallerEndsAll() {
        CompletableFuture<@Nullable Object> outer =
                test.submit("db", () -> threads.all("db", Collections.nCopies(20, this::blocked)));
        Awaitility.await().atMost(TestEngine.ENOUGH).until(() -> running.get() == 1);

        outer.cancel(true);

        TestEngine.awaitIdle(test);
        assertThat(outer).isCancelled();
    }

    @Test
    void aStopEndsAll() {
        CompletableFuture<@Nullable Object> outer =
                test.submit("db", () -> threads.all("db", Collections.nCopies(20, this::blocked)));
        Awaitility.await().atMost(TestEngine.ENOUGH).until(() -> running.get() == 1);

        test.engine.stop(TestEngine.NO_TIME);

        assertThat(outer).failsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void tasksThatGetNoThreadHandThePermitOn() throws Exception {
        ThreadFactory none = body -> {
            throw new OutOfMemoryError("no thread");
        };
        Callable<String> never = () -> "never";
        List<Callable<String>> tasks = new ArrayList<>(Collections.nCopies(5_000, never));
        tasks.add(() -> "ran");

        String first = threads.call("db", () -> new FanOut<String>(
                        test.engine,
                        tasks,
                        task -> task == never ? test.spec("db", none) : test.engine.spec("Test.task", "db"))
                .any());

        assertThat(first).isEqualTo("ran");
    }

    @Test
    void callersThatHoldAllPermitsNeverWaitForEachOther() {
        List<CompletableFuture<@Nullable Object>> outer = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            int tasks = i % 7;
            outer.add(test.submit("two", () -> {
                List<Integer> values = threads.all("two", counting(tasks));
                return values.size() + threads.all("two", counting(2)).size();
            }));
            if (i % 10 == 9) {
                outer.get(i - 5).cancel(true);
            }
        }

        for (int i = 0; i < outer.size(); i++) {
            if (i % 10 == 4) {
                assertThat(outer.get(i).handle((value, failure) -> "ended")).succeedsWithin(2, TimeUnit.MINUTES);
            } else {
                assertThat(outer.get(i)).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(i % 7 + 2);
            }
        }
        assertThat(most.get()).isLessThanOrEqualTo(2);
    }
}
