package io.github.virtualthread.aop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.Limited;
import io.github.virtualthread.VirtualThread;
import io.github.virtualthread.context.ContextPropagation;
import io.github.virtualthread.execution.CallExtensions;
import io.github.virtualthread.execution.TaskEngine;
import io.github.virtualthread.execution.TaskThreads;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.TaskLimits;
import io.github.virtualthread.timer.TaskTimer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD) // also ends what cannot be interrupted
@ExtendWith(OutputCaptureExtension.class)
class WovenCallsTests {

    private final TaskTimer timer = new TaskTimer("timer");
    private final WovenCalls calls = new WovenCalls();
    private final Mailer mailer = new Mailer();

    @AfterEach
    void close() {
        timer.close();
    }

    @Test
    void withoutAContextAMethodRunsInPlaceAndTheFirstIsLogged(CapturedOutput output) {
        assertThat(WovenCall.of(mailer, "toString").runBy(calls)).isSameAs(Thread.currentThread());
        assertThat(output).doesNotContain("runs in place");

        assertThat(WovenCall.of(mailer, "send").runBy(calls)).isSameAs(Thread.currentThread());
        assertThat(WovenCall.of(mailer, "confirm").runBy(calls)).isSameAs(Thread.currentThread());

        assertThat(output)
                .containsOnlyOnce("runs in place")
                .containsPattern("WARN .*Mailer\\.send with @VirtualThread runs in place");
    }

    @Test
    void besideAContextInModeProxyNothingIsLogged(CapturedOutput output) {
        WovenContext proxying = new WovenContext(null);
        calls.addInPlace(proxying);

        assertThat(WovenCall.of(mailer, "send").runBy(calls)).isSameAs(Thread.currentThread());
        assertThat(output).doesNotContain("runs in place");

        proxying.close(null);
        calls.end(proxying);
        assertThat(WovenCall.of(mailer, "send").runBy(calls)).isSameAs(Thread.currentThread());
        assertThat(output).containsOnlyOnce("runs in place");
    }

    @Test
    void aBeanBelongsToItsContextAndAnotherObjectToTheOneStartedLast() {
        WovenContext first = context("first-");
        WovenContext second = context("second-");
        calls.made(mailer, first);
        calls.start(first);
        calls.start(second);

        assertThat(WovenCall.of(mailer, "send").runBy(calls).getName()).startsWith("first-");
        assertThat(WovenCall.of(new Mailer(), "send").runBy(calls).getName()).startsWith("second-");
        assertThat(WovenCall.of(Mailer.class, null, "statically").runBy(calls).getName())
                .startsWith("second-");

        end(second);
        assertThat(WovenCall.of(new Mailer(), "send").runBy(calls).getName()).startsWith("first-");
    }

    @Test
    void aBeanOfAContextThatIsNotStartedYetUsesItsEngine() {
        calls.made(mailer, context("early-"));

        assertThat(WovenCall.of(mailer, "send").runBy(calls).getName()).startsWith("early-");
    }

    @Test
    void aBeanThatAnotherContextHandsOnStaysWithTheOneThatMadeIt() {
        WovenContext first = context("first-");
        WovenContext second = context("second-");
        calls.made(mailer, first);
        calls.made(mailer, second);
        assertThat(WovenCall.of(mailer, "send").runBy(calls).getName()).startsWith("first-");

        end(first);
        calls.made(mailer, second);
        assertThat(WovenCall.of(mailer, "send").runBy(calls).getName()).startsWith("second-");
    }

    @Test
    void aBeanOfAClosedContextIsRefused() {
        WovenContext context = context("vt-");
        calls.made(mailer, context);
        calls.start(context);
        end(context);

        assertThatThrownBy(() -> WovenCall.of(mailer, "send").runBy(calls))
                .isInstanceOf(CompletionException.class)
                .cause()
                .isInstanceOfSatisfying(LimitExceededException.class, refusal -> {
                    assertThat(refusal.reason()).isEqualTo(Reason.SHUTDOWN);
                    assertThat(refusal.task()).isEqualTo("Mailer.send");
                });
        assertThat(WovenCall.of(mailer, "toString").runBy(calls)).isSameAs(Thread.currentThread());
        assertThat(WovenCall.of(mailer, "limited").runBy(calls)).isSameAs(Thread.currentThread());
    }

    @Test
    void aBeanOfAClosedContextInModeProxyRunsInPlaceStill() {
        WovenContext proxying = new WovenContext(null);
        calls.addInPlace(proxying);
        calls.made(mailer, proxying);
        calls.start(context("vt-"));
        assertThat(WovenCall.of(mailer, "send").runBy(calls)).isSameAs(Thread.currentThread());

        end(proxying);
        assertThat(WovenCall.of(mailer, "send").runBy(calls)).isSameAs(Thread.currentThread());
    }

    @Test
    void aBeanOfAClosedChildGoesOnByTheEngineOfTheParent() {
        TaskEngine engine = engine("shared-");
        WovenContext parent = context(engine);
        WovenContext child = context(engine);
        calls.start(parent);
        calls.start(child);
        calls.made(mailer, child);

        end(child);
        assertThat(WovenCall.of(mailer, "send").runBy(calls).getName()).startsWith("shared-");

        end(parent);
        assertThatThrownBy(() -> WovenCall.of(mailer, "send").runBy(calls))
                .hasCauseInstanceOf(LimitExceededException.class);
    }

    @Test
    void aMethodThatCannotRunElsewhereRunsInPlaceAndTheStartSaysWhy() {
        calls.start(context("vt-"));

        assertThat(WovenCall.of(mailer, "count").runBy(calls)).isSameAs(Thread.currentThread());
    }

    @Test
    void aMethodOverriddenByOneThatIsWovenRunsInPlace() {
        WovenContext context = context("vt-");
        calls.start(context);

        assertThat(WovenCall.of(Mailer.class, new Woven(), "send").runBy(calls)).isSameAs(Thread.currentThread());
        assertThat(WovenCall.of(Mailer.class, new NotWoven(), "send").runBy(calls))
                .matches(Thread::isVirtual);
    }

    @Test
    void whatIsWovenIsToldByTheBodyThatAspectjMovesElsewhere() throws Exception {
        assertThat(AspectJRuntime.isWoven(Woven.class.getDeclaredMethod("send")))
                .isTrue();
        assertThat(AspectJRuntime.isWoven(Woven.class.getDeclaredMethod("send", String.class)))
                .isFalse();
        assertThat(AspectJRuntime.isWoven(Mailer.class.getDeclaredMethod("send")))
                .isFalse();
    }

    private WovenContext context(String prefix) {
        return context(engine(prefix));
    }

    private static WovenContext context(TaskEngine engine) {
        AnnotatedMethods methods = new AnnotatedMethods(VirtualThread.class);
        WovenContext context = new WovenContext(new VirtualThreadInterceptor(
                (method, type) -> WovenContext.resolve(methods, method, type),
                text -> text,
                () -> new CallEnvironment(engine, MethodSettings.NONE, ApplicationUncaughtExceptionHandler.LOGGING)));
        context.by(engine);
        return context;
    }

    private TaskEngine engine(String prefix) {
        return new TaskEngine(
                new TaskLimits(List.of(), timer, change -> {}),
                ContextPropagation.none(),
                timer,
                new TaskThreads(prefix, getClass().getClassLoader()),
                CallExtensions.NONE,
                false);
    }

    private void end(WovenContext context) {
        WovenContext parent = calls.sharing(context);
        calls.end(context);
        context.close(parent);
    }

    static class Mailer {

        @VirtualThread
        CompletableFuture<Thread> send() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        @VirtualThread
        CompletableFuture<Thread> confirm() {
            return send();
        }

        @VirtualThread
        int count() {
            return 1;
        }

        @VirtualThread
        static CompletableFuture<Thread> statically() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        @Limited("db")
        CompletableFuture<Thread> limited() {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    /** As AspectJ leaves it. */
    static class Woven extends Mailer {

        @Override
        @VirtualThread
        CompletableFuture<Thread> send() {
            return send_aroundBody0(this);
        }

        @VirtualThread
        CompletableFuture<Thread> send(String text) {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }

        static CompletableFuture<Thread> send_aroundBody0(Woven woven) {
            return CompletableFuture.completedFuture(Thread.currentThread());
        }
    }

    static class NotWoven extends Mailer {

        @Override
        CompletableFuture<Thread> send() {
            return super.send();
        }
    }
}
