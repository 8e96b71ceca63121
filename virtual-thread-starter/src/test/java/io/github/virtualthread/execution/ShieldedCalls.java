package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.awaitIdle;
import static io.github.virtualthread.execution.TestShield.body;
import static io.github.virtualthread.execution.TestShield.isKnown;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.execution.StoppableBody.Entered;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A call whose body has a part that no stop interrupts. */
abstract class ShieldedCalls {

    /** Whoever stops a body from outside. */
    enum Stop {
        CANCEL,
        DELETE,
        ENGINE
    }

    final CompletableFuture<Entered> inListener = new CompletableFuture<>();
    final CompletableFuture<Boolean> flagInListener = new CompletableFuture<>();

    @RegisterExtension
    final TestEngine test = new TestEngine(
            new TaskListener() {
                @Override
                public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
                    flagInListener.complete(Thread.currentThread().isInterrupted());
                    inListener.complete(((StoppableBody) call).shield(new TestShield()));
                }
            },
            LimitSettings.of("db", 1));

    final TestShield shield = new TestShield();
    final CountDownLatch running = new CountDownLatch(1);
    final CountDownLatch go = test.latch();
    final CompletableFuture<StoppableBody> self = new CompletableFuture<>();

    CompletableFuture<?> submit(TaskBody body) {
        CompletableFuture<?> future = test.submit("db", () -> {
            self.complete(body());
            return body.run();
        });
        self.join();
        return future;
    }

    static <T> T get(CompletableFuture<T> future) throws Exception {
        return future.get(2, TimeUnit.MINUTES);
    }

    void stop(Stop how, CompletableFuture<?> future) {
        switch (how) {
            case CANCEL -> future.cancel(true);
            case DELETE ->
                assertThat(test.engine.liveCalls().cancel(self.join().id())).contains(self.join());
            case ENGINE -> test.engine.stop(Duration.ZERO);
        }
    }

    void assertAllIsOver() {
        awaitIdle(test);
        assertThat(isKnown(self.join())).isFalse();
        assertThat(test.limit("db").available()).isEqualTo(1);
    }
}
