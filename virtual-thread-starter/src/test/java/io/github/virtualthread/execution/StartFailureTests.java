package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitSettings;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Threads that cannot be made or started. */
@Timeout(300)
@Tag("jdk")
class StartFailureTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    private final CountDownLatch release = test.latch();

    static Stream<Named<Supplier<Throwable>>> failures() {
        return Stream.of(
                Named.of("OutOfMemoryError", OutOfMemoryError::new),
                Named.of("RejectedExecutionException", RejectedExecutionException::new));
    }

    /** Threads whose start fails. */
    private static ThreadFactory broken(Supplier<Throwable> failure) {
        return body -> new Thread(body) {
            @Override
            public void start() {
                StartFailureTests.<RuntimeException>sneak(failure.get());
            }
        };
    }

    @SuppressWarnings("unchecked")
    private static <T extends Throwable> void sneak(Throwable failure) throws T {
        throw (T) failure;
    }

    private static <T> T notRun() {
        throw new AssertionError("body has run");
    }

    @ParameterizedTest
    @MethodSource("failures")
    void theFutureTellsAndThePermitIsFree(Supplier<Throwable> failure) {
        Throwable thrown = failure.get();

        CompletableFuture<?> future = test.submit("db", broken(() -> thrown), StartFailureTests::notRun);

        assertThat(test.limit("db").available()).isEqualTo(1);
        TestEngine.assertFails(future);
        assertThat(future.exceptionNow()).isSameAs(thrown);
        TestEngine.assertFails(test.submit(null, broken(() -> thrown), StartFailureTests::notRun));
    }

    @ParameterizedTest
    @MethodSource("failures")
    void aFactoryThatMakesNoThreadIsNoBetter(Supplier<Throwable> failure) {
        ThreadFactory none = body -> {
            StartFailureTests.<RuntimeException>sneak(failure.get());
            return Thread.currentThread();
        };

        TestEngine.assertFails(test.submit("db", none, StartFailureTests::notRun));
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void whatHangsOnAFailureGetsAThreadAsSoonAsOneCanBeHad() throws Exception {
        AtomicInteger tries = new AtomicInteger();
        ThreadFactory once = body -> {
            if (tries.getAndIncrement() == 0) {
                throw new OutOfMemoryError();
            }
            return Thread.ofVirtual().unstarted(body);
        };
        CompletableFuture<Thread> handler = new CompletableFuture<>();
        TaskSpec spec = test.spec("db", once);

        test.engine.execute(
                spec, StartFailureTests::notRun, (task, failure) -> handler.complete(Thread.currentThread()));

        test.assertMayBlock(handler.get(2, TimeUnit.MINUTES));
    }

    @Test
    void aHandlerThatThrowsWhatItIsToldIsToldOnce() {
        AtomicInteger told = new AtomicInteger();
        TaskSpec spec = test.spec("db", broken(OutOfMemoryError::new));

        test.engine.execute(spec, StartFailureTests::notRun, (task, failure) -> {
            told.incrementAndGet();
            throw (Error) failure;
        });

        TestEngine.awaitIdle(test);
        assertThat(told).hasValue(1);
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    /** Somebody completes the future of a call while its thread cannot be made; at DEBUG the log tells of that. */
    @Test
    void aLogThatFailsLosesNeitherThatCallNorTheOneThatHandsItsPermitOver() throws Exception {
        CompletableFuture<?> held = test.hold("db", release);
        CompletableFuture<CompletableFuture<Object>> self = new CompletableFuture<>();
        ThreadFactory broken = body -> {
            self.join().complete("by somebody else");
            throw new OutOfMemoryError();
        };
        self.complete(test.submit("db", broken, StartFailureTests::notRun));

        try (BrokenLog log = new BrokenLog(Failures.class)) {
            release.countDown();

            assertThat(held).succeedsWithin(2, TimeUnit.MINUTES).isEqualTo("held");
            assertThat(test.engine.awaitIdle(TestEngine.ENOUGH)).isTrue();
        }
        assertThat(self.join()).isCompletedWithValue("by somebody else");
    }
}
