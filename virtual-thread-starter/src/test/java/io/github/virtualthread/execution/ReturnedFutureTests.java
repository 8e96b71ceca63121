package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Bodies that return a future themselves. */
@Timeout(300)
@Tag("jdk")
class ReturnedFutureTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CompletableFuture<Object> inner = new CompletableFuture<>();

    @AfterEach
    void completeInner() {
        inner.complete("closed");
    }

    /** Kinds of futures, each a view of the one given. */
    static Stream<Named<Function<CompletableFuture<Object>, Object>>> kinds() {
        return Stream.of(
                Named.of("CompletableFuture", future -> future),
                Named.of("dependent", future -> future.thenApply(value -> value)),
                Named.of("minimal stage", CompletableFuture::minimalCompletionStage),
                Named.of("stage that is no future", ReturnedFutureTests::onlyStage),
                Named.of("future that is no stage", ReturnedFutureTests::onlyFuture));
    }

    private static CompletionStage<?> onlyStage(CompletableFuture<Object> future) {
        return (CompletionStage<?>) view(CompletionStage.class, future);
    }

    private static Future<?> onlyFuture(CompletableFuture<Object> future) {
        return (Future<?>) view(Future.class, future);
    }

    private static Object view(Class<?> type, CompletableFuture<Object> future) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (method.getName().equals("toCompletableFuture")) {
                throw new UnsupportedOperationException();
            }
            try {
                return method.invoke(future, arguments);
            } catch (InvocationTargetException failed) {
                throw failed.getCause();
            }
        });
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void theValueIsThatOfTheInnerFutureAndThePermitIsHeldUntilThen(Function<CompletableFuture<Object>, Object> kind) {
        CompletableFuture<?> outer = awaitingInner(kind.apply(inner));
        CompletableFuture<?> next = test.submit("db", () -> "next");
        assertThat(test.limit("db").available()).isZero();
        assertThat(test.limit("db").waiting()).isEqualTo(1);
        assertThat(next).isNotDone();
        assertThat(outer).isNotDone();

        inner.complete("value");

        assertThat(outer).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("value");
        assertThat(next).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void theFailureIsThatOfTheInnerFutureUnwrapped(Function<CompletableFuture<Object>, Object> kind) {
        IOException failure = new IOException("inner");
        CompletableFuture<?> outer = test.submit("db", () -> kind.apply(inner));

        inner.completeExceptionally(failure);

        assertThat(outer).failsWithin(2, TimeUnit.MINUTES);
        assertThat(outer.exceptionNow()).isSameAs(failure);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void aCancelledInnerFutureIsAFailureOfTheCall(Function<CompletableFuture<Object>, Object> kind) {
        CompletableFuture<?> outer = test.submit("db", () -> kind.apply(inner));

        inner.cancel(true);

        assertThat(outer).failsWithin(2, TimeUnit.MINUTES);
        assertThat(outer.isCancelled()).as("nobody has cancelled this one").isFalse();
        assertThat(outer.exceptionNow()).isInstanceOf(CancellationException.class);
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void anInnerFutureThatIsCompleteIsTakenAsItIs(Function<CompletableFuture<Object>, Object> kind) {
        inner.complete("value");

        assertThat(test.submit("db", () -> kind.apply(inner)))
                .succeedsWithin(2, TimeUnit.MINUTES)
                .isEqualTo("value");
    }

    @Test
    void cancelTrueCancelsTheInnerFuture() {
        CompletableFuture<?> outer = awaitingInner(inner);

        outer.cancel(true);

        assertThat(inner).failsWithin(2, TimeUnit.MINUTES);
        assertThat(inner).isCancelled();
        assertThat(test.submit("db", () -> "next")).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void cancelTrueInterruptsTheInnerFuturesOwnThread() {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch interrupted = new CountDownLatch(1);
        FutureTask<Object> task = new FutureTask<>(() -> {
            running.countDown();
            try {
                new CountDownLatch(1).await();
            } catch (InterruptedException cancelled) {
                interrupted.countDown();
            }
            return null;
        });
        CompletableFuture<?> outer = test.submit("db", () -> {
            Thread.ofVirtual().start(task);
            return task;
        });
        await(running); // a task that is cancelled before it runs never does

        outer.cancel(true);

        await(interrupted);
    }

    @Test
    void cancelFalseLeavesTheInnerFutureAlone() {
        CompletableFuture<?> outer = awaitingInner(inner);

        outer.cancel(false);
        CompletableFuture<?> next = test.submit("db", () -> "next");

        assertThat(test.limit("db").waiting()).isEqualTo(1);
        assertThat(inner.complete("value")).isTrue();
        assertThat(next).succeedsWithin(2, TimeUnit.MINUTES);
    }

    /** Kinds of futures that do not end when they are cancelled. */
    static Stream<Named<Function<CompletableFuture<Object>, Object>>> stubbornKinds() {
        return kinds().filter(kind -> !kind.getName().equals("dependent"));
    }

    @ParameterizedTest
    @MethodSource("stubbornKinds")
    void thePermitOfACancelledCallIsHeldWhileTheInnerFutureGoesOn(Function<CompletableFuture<Object>, Object> kind) {
        holdsThePermitInSpiteOfCancel(kind, new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                return false;
            }
        });
    }

    @Test
    void aCancelThatThrowsDoesNotEndTheWaiting() {
        holdsThePermitInSpiteOfCancel(future -> future, new CompletableFuture<>() {
            @Override
            public boolean cancel(boolean mayInterruptIfRunning) {
                throw new IllegalStateException("cancel");
            }
        });
    }

    private void holdsThePermitInSpiteOfCancel(
            Function<CompletableFuture<Object>, Object> kind, CompletableFuture<Object> stubborn) {
        CompletableFuture<?> outer = awaitingInner(kind.apply(stubborn));
        CompletableFuture<?> next = test.submit("db", () -> "next");

        outer.cancel(true);
        outer.cancel(true);

        assertThatThrownBy(() -> next.get(50, TimeUnit.MILLISECONDS)).isInstanceOf(TimeoutException.class);
        assertThat(test.limit("db").available()).isZero();
        stubborn.complete("at last");
        assertThat(next).succeedsWithin(2, TimeUnit.MINUTES);
    }

    @Test
    void aFailureWithoutACauseIsItsOwnCause() {
        ExecutionException failure = new ExecutionException("nothing known", null);
        CompletableFuture<?> outer = test.submit("db", () -> new CompletableFuture<>() {
            @Override
            public Object get() throws ExecutionException {
                throw failure;
            }
        });

        assertThat(outer).failsWithin(2, TimeUnit.MINUTES);
        assertThat(outer.exceptionNow()).isSameAs(failure);
    }

    /** The task has its virtual thread parked on the inner future when this returns. */
    private CompletableFuture<?> awaitingInner(Object returned) {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        CompletableFuture<?> outer = test.submit("db", () -> {
            thread.complete(Thread.currentThread());
            return returned;
        });
        TestEngine.awaitParked(thread.join());
        return outer;
    }
}
