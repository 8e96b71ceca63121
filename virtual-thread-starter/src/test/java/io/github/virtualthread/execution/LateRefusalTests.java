package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A task that has been accepted, and never gets to run its body. */
@Timeout(300)
class LateRefusalTests {

    @RegisterExtension
    private final TestEngine test = new TestEngine(LimitSettings.of("db", 1));

    @Test
    void aTaskWhoseThreadBeginsAfterTheStopGivesItsPermitBack() {
        ThreadFactory late = body -> Thread.ofVirtual().unstarted(() -> {
            awaitStop();
            body.run();
        });
        CompletableFuture<?> future = test.submit("db", late, () -> "ran");

        test.engine.stop(Duration.ZERO);

        assertThat(future).failsWithin(Duration.ofMinutes(2));
        assertThat(future.exceptionNow())
                .isInstanceOfSatisfying(LimitExceededException.class, refusal -> assertThat(refusal.reason())
                        .isEqualTo(Reason.SHUTDOWN));
        assertThat(test.limit("db").available()).isEqualTo(1);
    }

    @Test
    void aRefusalNeedsNoThreadOfItsMethod() {
        test.hold("db", test.latch());
        CompletableFuture<?> future = test.submit(
                "db",
                body -> {
                    throw new OutOfMemoryError("unable to create native thread");
                },
                () -> "ran");

        test.limits.evictWaiting("db");

        assertThat(future).failsWithin(Duration.ofMinutes(2));
        assertThat(future.exceptionNow()).isInstanceOf(LimitExceededException.class);
    }

    private void awaitStop() {
        long begin = System.nanoTime();
        while (!test.engine.parts().gate().isStopped()) {
            if (System.nanoTime() - begin > TestEngine.ENOUGH.toNanos()) {
                throw new AssertionError("nobody stops the engine");
            }
            Thread.yield();
        }
    }
}
