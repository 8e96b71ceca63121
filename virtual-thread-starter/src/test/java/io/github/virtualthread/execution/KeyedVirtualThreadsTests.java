package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.KeyUse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.core.task.AsyncTaskExecutor;

/** Calls by hand that have a key. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD)
@Tag("jdk")
class KeyedVirtualThreadsTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            LimitSettings.of("partner", 10).withPermitsPerKey(1).withQueueCapacityPerKey(1),
            LimitSettings.of("db", 10).withPermitsPerKey(1));

    private final LinkedBlockingQueue<Throwable> uncaught = new LinkedBlockingQueue<>();
    private final VirtualThreads threads = new VirtualThreads(test.engine, (task, failure) -> uncaught.add(failure));
    private final KeyedVirtualThreads acme = threads.forKey("acme");
    private final CountDownLatch release = test.latch();

    private KeyUse use(String key) {
        return test.limit("partner").key(key);
    }

    private KeyUse acme() {
        return use("acme");
    }

    private void assertKeyQueueFull(Throwable failure) {
        assertThat(failure).isInstanceOfSatisfying(LimitExceededException.class, refusal -> {
            assertThat(refusal.reason()).isEqualTo(Reason.KEY_QUEUE_FULL);
            assertThat(refusal.key()).isEqualTo("acme");
        });
    }

    private Callable<String> blocked() {
        return () -> {
            release.await();
            return "ran";
        };
    }

    @Test
    void eachWayToMakeACallHasTheKey() throws Exception {
        assertThat(acme.call("partner", () -> acme().running())).isOne();
        assertThat(acme.submit("partner", () -> acme().running()).get(2, TimeUnit.MINUTES))
                .isOne();
        CompletableFuture<Integer> executed = new CompletableFuture<>();
        acme.execute("partner", () -> executed.complete(acme().running()));
        assertThat(executed.get(2, TimeUnit.MINUTES)).isOne();
        assertThat(acme.all("partner", List.of(() -> acme().running()))).containsExactly(1);
        Callable<Integer> running = () -> acme().running();
        assertThat(acme.anySuccessful("partner", List.of(running)).intValue()).isOne();
        AsyncTaskExecutor executor = acme.executor("partner");
        for (int i = 0; i < 3; i++) {
            assertThat(executor.submitCompletable(() -> acme().running()).get(2, TimeUnit.MINUTES))
                    .isOne();
        }

        TestEngine.awaitIdle(test);
        TaskLimit partner = test.limit("partner");
        assertThat(partner.completed()).isEqualTo(8);
        assertThat(partner.keys()).isZero();
    }

    @Test
    void aLimitedTaskHasTheKeyEachTimeItIsCalled() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        Callable<Integer> task = acme.limited("db", () -> {
            running.countDown();
            release.await();
            return test.limit("db").key("acme").running();
        });
        List<CompletableFuture<Integer>> calls = new ArrayList<>();
        calls.add(threads.submit(task));
        await(running);
        for (int waiting = 1; waiting <= 3; waiting++) {
            calls.add(threads.submit(task));
            Caller.awaitWaiting(test, "db", waiting);
        }

        assertThat(test.limit("db").key("acme").waiting()).isEqualTo(3);
        release.countDown();
        assertThat(calls)
                .allSatisfy(call ->
                        assertThat(call).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo(1));
        TestEngine.awaitIdle(test);
        assertThat(test.limit("db").keys()).isZero();
        assertThatNullPointerException()
                .isThrownBy(() -> acme.limited(null, () -> ""))
                .withMessage("limit");
    }

    @Test
    void aKeyThatIsFullRefusesItsOwnCallsOnly() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<String> first = acme.submit("partner", () -> {
            running.countDown();
            return blocked().call();
        });
        await(running);
        CompletableFuture<String> second = acme.submit("partner", blocked());

        assertKeyQueueFull(acme.submit("partner", () -> "never").exceptionNow());
        assertThatExceptionOfType(LimitExceededException.class)
                .isThrownBy(() -> acme.call("partner", () -> "never"))
                .satisfies(this::assertKeyQueueFull);
        assertThatExceptionOfType(LimitExceededException.class)
                .isThrownBy(() -> acme.executor("partner").execute(() -> {}))
                .satisfies(this::assertKeyQueueFull);
        acme.execute("partner", () -> {});
        assertKeyQueueFull(uncaught.poll(2, TimeUnit.MINUTES));
        assertThat(threads.forKey("umbrella")
                        .call("partner", () -> use("umbrella").running()))
                .isOne();
        assertThat(threads.call("partner", () -> "without a key")).isEqualTo("without a key");

        release.countDown();
        assertThat(List.of(first, second)).allSatisfy(each -> assertThat(each).succeedsWithin(2, TimeUnit.MINUTES));
    }

    @Test
    void tasksOfACallerThatHoldsThePermitOfItsKeyBorrowIt() throws Exception {
        Callable<Integer> running = () -> acme().running();

        List<Integer> values = acme.call("partner", () -> acme.all("partner", List.of(running, running)));

        assertThat(values).containsExactly(1, 1);
        TestEngine.awaitIdle(test);
        assertThat(test.limit("partner").keys()).isZero();
        assertThat(test.limit("partner").available()).isEqualTo(10);
    }

    @Test
    void whatIsMissingIsNamed() {
        assertThatNullPointerException().isThrownBy(() -> threads.forKey(null)).withMessage("key");
        assertThatNullPointerException()
                .isThrownBy(() -> acme.submit(null, () -> ""))
                .withMessage("limit");
        assertThatNullPointerException()
                .isThrownBy(() -> acme.execute("partner", null))
                .withMessage("task");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> acme.anySuccessful("partner", List.<Callable<String>>of()))
                .withMessageContaining("at least one task");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> acme.submit("unknown", () -> ""))
                .withMessageContaining("partner");
    }
}
