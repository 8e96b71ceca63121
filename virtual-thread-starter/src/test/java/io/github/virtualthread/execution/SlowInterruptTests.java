package io.github.virtualthread.execution;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An interrupt closes the channel that a body is blocked on, on the thread that interrupts; that may take long. */
@Timeout(300)
@Tag("jdk")
class SlowInterruptTests {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final Duration SHORT = Duration.ofMillis(50);

    @RegisterExtension
    private final TestEngine test =
            new TestEngine(LimitSettings.of("db", 1).withMaxWait(SHORT), LimitSettings.of("other", 1));

    private final CountDownLatch closing = new CountDownLatch(1);
    private final CountDownLatch mayClose = test.latch();
    private final CountDownLatch never = test.latch();
    private final CountDownLatch interrupted = new CountDownLatch(1);

    @Test
    void aChannelThatIsSlowToCloseHoldsUpNobodyElse() throws Exception {
        test.hold("db", never);
        CompletableFuture<?> slow = test.engine.submit(test.engine.spec("Slow.read", null, SHORT), () -> {
            new SlowChannel().block();
            return "value";
        });
        TestEngine.await(closing); // its timeout has interrupted it

        CompletableFuture<?> other = test.engine.submit(test.engine.spec("Other.read", "other", SHORT), () -> {
            try {
                never.await();
            } catch (InterruptedException timeout) {
                interrupted.countDown();
            }
            return "value";
        });
        CompletableFuture<?> waiting = test.submit("db", () -> "value");

        assertThat(other).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(TimeoutException.class);
        assertThat(waiting).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(LimitExceededException.class);
        TestEngine.await(interrupted);
        assertThat(mayClose.getCount()).as("still closing").isOne();
        mayClose.countDown();
        assertThat(slow).failsWithin(PATIENCE).withThrowableThat().withCauseInstanceOf(TimeoutException.class);
    }

    private final class SlowChannel extends AbstractInterruptibleChannel {

        void block() throws Exception {
            boolean completed = false;
            try {
                begin();
                never.await();
                completed = true;
            } finally {
                end(completed);
            }
        }

        @Override
        protected void implCloseChannel() {
            closing.countDown();
            TestEngine.awaitStubbornly(mayClose);
        }
    }
}
