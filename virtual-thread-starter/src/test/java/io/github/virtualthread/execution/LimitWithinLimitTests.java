package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.spi.ILoggingEvent;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.Nested;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls on threads that hold a permit of a limit around the one they ask, or within it. */
@Timeout(300)
@Tag("jdk")
class LimitWithinLimitTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("db", 2),
            LimitSettings.of("report", 1).withWithin("db").withPermitsPerKey(1),
            LimitSettings.of("page", 1).withWithin("report"),
            LimitSettings.of("mail", 1).withWithin("db"),
            LimitSettings.of("strict", 1).withWithin("db").withNested(Nested.FAIL));

    @RegisterExtension
    private final QueueAppender log = new QueueAppender(PermitHolders.class);

    private final CountDownLatch release = test.latch();

    private @Nullable Object call(String limit, TaskBody body) throws Throwable {
        return test.engine.call(test.engine.spec("Inner.b", limit), body);
    }

    /** Free permits of db, report, page and mail. */
    private List<Integer> free() {
        return Stream.of("db", "report", "page", "mail")
                .map(limit -> test.limit(limit).available())
                .toList();
    }

    private static void assertRan(CompletableFuture<?> call) {
        assertThat(call).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("ran");
    }

    @Test
    void aCallUnderALimitAroundIsReentry() {
        CompletableFuture<?> page = test.submit("page", () -> {
            assertThat(free()).containsExactly(1, 0, 0, 1);
            return call(
                    "db",
                    () -> call("report", () -> {
                        assertThat(free()).containsExactly(1, 0, 0, 1);
                        return "ran";
                    }));
        });

        assertRan(page);
        TestEngine.awaitIdle(test);
        assertThat(test.limit("db").completed()).isOne();
        assertThat(test.limit("report").completed()).isOne();
        assertThat(free()).containsExactly(2, 1, 1, 1);
    }

    @Test
    void whoHoldsThePermitAroundTakesOnlyWhatItLacks() throws Throwable {
        test.hold("db", release);

        Object free = call("db", () -> call("page", this::free));

        assertThat(free).isEqualTo(List.of(0, 0, 0, 1));
        assertThat(test.limit("db").completed()).isOne();
        assertThat(test.limit("page").completed()).isOne();
        assertThat(free()).containsExactly(1, 1, 1, 1);
    }

    @Test
    void theKeyOfACallCountsBesideThePermitAround() throws Throwable {
        TaskSpec keyed = test.engine.keyed(test.engine.spec("Inner.b", "report"), "acme");

        Object running = call(
                "db",
                () -> test.engine.call(
                        keyed, () -> test.limit("report").key("acme").running()));

        assertThat(running).isEqualTo(1);
        assertThat(test.limit("report").keys()).isZero();
        assertThat(free()).containsExactly(2, 1, 1, 1);
    }

    @Test
    void aCallBesideItTakesOnlyThePermitOfItsOwnLimit() throws Throwable {
        assertThat(call("report", () -> call("mail", this::free))).isEqualTo(List.of(1, 0, 1, 0));
        assertThat(free()).containsExactly(2, 1, 1, 1);
    }

    @Test
    void whoHoldsThePermitAroundGoesBeforeWhoWaitsForIt() {
        CountDownLatch bothHold = new CountDownLatch(2);
        CountDownLatch go = new CountDownLatch(1);
        List<Caller> bodies = Stream.of(1, 2)
                .map(each -> Caller.virtual(test, "db", () -> {
                    bothHold.countDown();
                    await(go);
                    return call("report", () -> {
                        assertThat(test.limit("report").available()).isZero();
                        return "ran";
                    });
                }))
                .toList();
        await(bothHold);
        CompletableFuture<?> report = test.submit("report", () -> "ran");

        go.countDown();

        assertThat(bodies).allSatisfy(body -> assertRan(body.outcome));
        assertRan(report);
        TestEngine.awaitIdle(test);
        assertThat(free()).containsExactly(2, 1, 1, 1);
    }

    @Test
    void aTaskThatNeedsWhatItsCallerHoldsAroundIsNested() {
        test.submit("db", () -> {
                    test.hold("db", release);
                    CompletableFuture<?> unused =
                            test.engine.submit(test.engine.spec("Report.make", "report"), () -> "waits");
                    return null;
                })
                .join();
        test.submit("db", () -> {
                    CompletableFuture<?> refused = test.submit("strict", () -> "never");
                    assertThat(refused).isCompletedExceptionally();
                    assertThat(refused.exceptionNow()).isInstanceOfSatisfying(LimitExceededException.class, refusal -> {
                        assertThat(refusal.reason()).isEqualTo(Reason.NESTED);
                        assertThat(refusal.limit()).isEqualTo("strict");
                    });
                    return null;
                })
                .join();

        assertThat(log.events)
                .extracting(ILoggingEvent::getFormattedMessage)
                .containsExactly(
                        "Test.task calls Report.make while it holds a permit of limit 'db', and no other permit is"
                                + " free. Once all 2 permits are held this way, none of these calls can proceed. Give Report.make"
                                + " a limit of its own, let one call do both, make Report.make @Limited, or set"
                                + " virtual-thread.limits.report.nested to fail.");
    }

    @Test
    void aTaskThatNeedsWhatItsCallerHoldsWithinIsNested() {
        test.hold("db", release);
        test.submit("report", () -> {
                    CompletableFuture<?> unused = test.engine.submit(test.engine.spec("Db.find", "db"), () -> "waits");
                    return null;
                })
                .join();

        assertThat(log.events).singleElement().satisfies(event -> assertThat(event.getFormattedMessage())
                .startsWith("Test.task calls Db.find while it holds a permit of limit 'db'"));
    }

    @Test
    void aLiveCallIsListedUnderEachLimitWhosePermitItsThreadHolds() {
        CompletableFuture<?> report = test.hold("report", release);
        CountDownLatch inside = new CountDownLatch(1);
        Caller caller = Caller.virtual(
                test,
                "db",
                () -> call("mail", () -> {
                    inside.countDown();
                    await(release);
                    return "ran";
                }));
        await(inside);

        LiveCalls live = test.engine.liveCalls();
        assertThat(live.running(test.limit("db")))
                .extracting(each -> each.call().spec().name())
                .containsExactlyInAnyOrder("Test.task", "Test.call", "Inner.b");
        assertThat(live.running(test.limit("report"))).hasSize(1);
        assertThat(live.running(test.limit("mail"))).hasSize(1);
        assertThat(live.running(null)).isEmpty();
        long id = live.running(test.limit("report")).get(0).call().id();
        assertThat(live.find(test.limit("db"), id)).isPresent();

        release.countDown();
        assertThat(report).succeedsWithin(2, TimeUnit.MINUTES);
        assertRan(caller.outcome);
    }
}
