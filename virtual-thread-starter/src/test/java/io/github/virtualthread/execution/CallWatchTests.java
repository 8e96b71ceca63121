package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.ENOUGH;
import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitParked;
import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.Mockito.mock;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the log says of full limits and of stuck calls. */
@Timeout(300)
@Order(Integer.MAX_VALUE) // it mocks
@Tag("jdk")
class CallWatchTests {

    private final BlockingQueue<TaskCall> stuck = new LinkedBlockingQueue<>();

    private final CompletableFuture<ClassLoader> loader = new CompletableFuture<>();

    @RegisterExtension
    private final TestEngine test = new TestEngine(
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
    private final QueueAppender log = new QueueAppender(CallWatch.class, Level.INFO);

    private final CountDownLatch gate = test.latch();
    private @Nullable CallWatch watch;

    @AfterEach
    void stop() {
        if (watch != null) {
            watch.stop();
        }
        awaitEnd(); // or it would write into the log of the next test
    }

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

    @Test
    void aStuckCallIsToldOnceWithItsStackAndListenersHearOfIt() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));
        test.hold("db", gate);
        awaitParked(test.thread("db"));

        watch.look();
        watch.look();

        assertThat(log.events).singleElement().satisfies(event -> {
            assertThat(event.getFormattedMessage())
                    .matches("Test.task has been running for \\d+s under limit 'db', longer than"
                            + " virtual-thread.stuck-after");
            assertThat(event.getThrowableProxy().getMessage()).startsWith("Stack of vt-Test.task-");
            assertThat(event.getThrowableProxy().getStackTraceElementProxyArray())
                    .anyMatch(frame -> frame.toString().contains("CountDownLatch.await"));
        });
        assertThat(stuck).singleElement().extracting(call -> call.spec().name()).isEqualTo("Test.task");
    }

    /** 3,000 hung calls wrote 54,000 lines, one stack 3,000 times. */
    @Test
    void thousandsThatAreStuckAtOnePlaceAreOneLineWithOneStackAndTheirNumber() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));
        for (int i = 0; i < 3_000; i++) {
            test.submit(null, () -> {
                gate.await();
                return null;
            });
        }
        awaitAllParked(3_000);

        watch.look();
        watch.look();

        assertThat(log.events).singleElement().satisfies(event -> {
            assertThat(event.getFormattedMessage())
                    .matches(
                            "3,000 calls of Test.task have been running for up to \\d+s under limit 'none', longer than"
                                    + " virtual-thread.stuck-after, all at the same place");
            assertThat(event.getThrowableProxy().getStackTraceElementProxyArray())
                    .anyMatch(frame -> frame.toString().contains("CountDownLatch.await"));
        });
        assertThat(stuck).hasSize(3_000);
    }

    @Test
    void callsThatAreStuckElsewhereAreAnotherLine() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));
        test.submit("db", () -> {
            gate.await();
            return null;
        });
        test.submit("db", () -> {
            TestEngine.awaitStubbornly(gate);
            return null;
        });
        awaitAllParked(2);

        watch.look();

        assertThat(messages()).hasSize(2).allSatisfy(message -> assertThat(message)
                .startsWith("WARN Test.task has been running for "));
    }

    @Test
    void callsThatGetStuckAtAPlaceThatWasLoggedAreLoggedAMinuteLaterWithTheirNumber() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));
        TaskBody hang = () -> {
            gate.await();
            return null;
        };
        test.submit(null, hang);
        awaitAllParked(1);
        watch.look();
        log.events.clear();
        test.submit(null, hang);
        test.submit(null, hang);
        awaitAllParked(3);

        for (int second = 1; second < 60; second++) {
            watch.look();
        }
        assertThat(stuck).as("listeners hear at once").hasSize(3);
        assertThat(messages()).isEmpty();
        watch.look();

        assertThat(messages())
                .singleElement()
                .asString()
                .startsWith("WARN 2 calls of Test.task have been running for up to ");
    }

    @Test
    void oneLookShowsTenStacksAndCountsTheRest() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));
        for (int depth = 0; depth < 12; depth++) {
            int deep = depth;
            test.submit(null, () -> hang(deep));
        }
        awaitAllParked(12);

        watch.look();
        watch.look();

        assertThat(messages())
                .hasSize(11)
                .last()
                .asString()
                .matches("WARN 2 more calls have been running for up to \\d+s, longer than virtual-thread.stuck-after,"
                        + " at more than 10 places");
    }

    private @Nullable Object hang(int depth) throws InterruptedException {
        if (depth > 0) {
            return hang(depth - 1);
        }
        gate.await();
        return null;
    }

    private void awaitAllParked(int number) {
        long begin = System.nanoTime();
        while (test.engine
                        .liveCalls()
                        .threads()
                        .filter(live -> live.call().isStarted())
                        .map(LiveCall::thread)
                        .filter(thread -> thread != null && thread.getState() == Thread.State.WAITING)
                        .count()
                < number) {
            assertThat(System.nanoTime() - begin)
                    .isLessThan(Duration.ofMinutes(1).toNanos());
            Thread.yield();
        }
    }

    @Test
    void aCallOnItsCallersThreadCanBeStuckToo() throws Throwable {
        CallWatch watch = watch(Duration.ZERO, Duration.ofNanos(1));

        test.engine.call(test.engine.spec("Test.call", "db"), () -> {
            watch.look();
            return null;
        });
        watch.look();

        assertThat(messages()).singleElement().asString().startsWith("WARN Test.call has been running for ");
    }

    @Test
    void aCallThatEndedInTimeIsNotStuck() {
        CallWatch watch = watch(Duration.ZERO, Duration.ofHours(1));
        test.hold("db", gate);

        watch.look();

        assertThat(messages()).isEmpty();
        assertThat(stuck).isEmpty();
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

    private CallWatch watch(Duration saturated, @Nullable Duration stuckAfter) {
        return watch(test.limits, saturated, stuckAfter);
    }

    private CallWatch watch(TaskLimits limits, Duration saturated, @Nullable Duration stuckAfter) {
        CallWatch made = new CallWatch(
                test.engine, limits, saturated, stuckAfter, "watch-test-" + hashCode() + "-", Duration.ofMillis(1));
        watch = made;
        return made;
    }

    private void awaitEnd() {
        long begin = System.nanoTime();
        while (!threads().isEmpty()) {
            assertThat(System.nanoTime() - begin).isLessThan(ENOUGH.toNanos());
            Thread.yield();
        }
    }

    private List<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("watch-test-" + hashCode() + "-watch"))
                .toList();
    }

    /** A busy machine may need seconds for what takes none. */
    private List<String> messages() {
        return log.events.stream()
                .map((ILoggingEvent event) ->
                        event.getLevel() + " " + event.getFormattedMessage().replaceAll("\\d+ s\\b", "N s"))
                .toList();
    }
}
