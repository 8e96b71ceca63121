package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.Late.on;
import static io.github.virtualthread.execution.Late.valueOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A permit of a call that goes on without its thread, as a web request does that is answered later. */
@Timeout(300)
@Tag("jdk")
class HeldPermitTests {

    private final List<String> heard = new CopyOnWriteArrayList<>();

    @RegisterExtension
    private final TestEngine test = new TestEngine(
            new TaskListener() {
                @Override
                public void started(TaskCall call) {
                    heard.add("started");
                }

                @Override
                public void finished(TaskCall call, Outcome outcome, @Nullable Throwable failure) {
                    heard.add(outcome + " " + failure);
                }
            },
            LimitSettings.of("web", 1).withQueueCapacity(0),
            LimitSettings.of("inner", 1).withWithin("web").withQueueCapacity(0));

    private final TaskSpec request = test.engine.spec("web-request", "web");

    private HeldPermit acquire() throws InterruptedException {
        return test.engine.acquire(request);
    }

    private int free() {
        return test.limit("web").available();
    }

    private List<LiveCall> running() {
        return test.engine.liveCalls().running(test.limit("web"));
    }

    private boolean reenters() {
        return test.engine.holdsPermitOf(test.limit("web"));
    }

    @Test
    void aCallThatGoesOnWithoutItsThreadHoldsItsPermitUntilItIsClosed() throws Exception {
        HeldPermit held = acquire();
        assertThat(running()).singleElement().satisfies(live -> {
            assertThat(live.thread()).isSameAs(Thread.currentThread());
            assertThat(live.call().isStarted()).isTrue();
        });
        assertThat(reenters()).isTrue();

        held.leaveThread();

        assertThat(free()).isZero();
        assertThat(reenters()).isFalse();
        assertThat(running()).singleElement().satisfies(live -> {
            assertThat(live.thread()).isNull();
            assertThat(live.call().isStarted()).isTrue();
            assertThat(live.call().spec()).isSameAs(request);
            assertThat(test.engine
                            .liveCalls()
                            .find(test.limit("web"), live.call().id()))
                    .isPresent();
            assertThat(test.engine.liveCalls().cancel(live.call().id())).isEmpty();
        });
        assertThat(test.engine.liveCalls().onThread(Thread.currentThread().threadId()))
                .isEmpty();
        valueOf(on(Thread.ofPlatform(), () -> {
            held.close(null);
            return null;
        }));
        assertThat(free()).isOne();
        assertThat(running()).isEmpty();
        assertThat(heard).containsExactly("started", "SUCCESS null");
    }

    @Test
    void theFirstCloseCounts() throws Exception {
        HeldPermit held = acquire();
        held.leaveThread();

        held.close(new IOException("gone"));
        held.close(null);

        assertThat(free()).isOne();
        assertThat(heard).containsExactly("started", "ERROR java.io.IOException: gone");
        HeldPermit next = acquire();
        held.close(null);
        assertThat(free()).isZero();
        next.close(null);
        next.leaveThread();
    }

    @Test
    void aThreadThatGoesOnWithTheCallReenters() throws Exception {
        HeldPermit held = acquire();
        held.leaveThread();

        CompletableFuture<?> dispatched = on(Thread.ofVirtual(), () -> {
            held.enterThread();
            try {
                assertThat(running()).singleElement().satisfies(live -> assertThat(live.thread())
                        .isSameAs(Thread.currentThread()));
                return test.engine.call(request, () -> "inside");
            } finally {
                held.leaveThread();
                assertThat(reenters()).isFalse();
            }
        });

        assertThat(valueOf(dispatched)).isEqualTo("inside");
        assertThat(running()).singleElement().satisfies(live -> assertThat(live.thread())
                .isNull());
        assertThatExceptionOfType(LimitExceededException.class)
                .isThrownBy(() -> test.engine.call(request, () -> "outside"))
                .matches(refusal -> refusal.reason() == Reason.QUEUE_FULL);
        held.close(null);
        assertThat(running()).isEmpty();
    }

    @Test
    void aCallThatIsClosedWhileAThreadHasItHoldsNothing() throws Exception {
        HeldPermit held = acquire();

        valueOf(on(Thread.ofPlatform(), () -> {
            held.close(null);
            return null;
        }));

        assertThat(free()).isOne();
        assertThat(reenters()).isFalse();
        assertThat(running()).isEmpty();
        CompletableFuture<?> other = test.hold("web", test.latch());
        assertThatExceptionOfType(LimitExceededException.class)
                .as("the permit is that of another call now")
                .isThrownBy(() -> test.engine.call(request, () -> "beside"));
        held.leaveThread();
        assertThat(running()).hasSize(1);
        other.cancel(true);
    }

    @Test
    void aThreadThatComesTooLateHoldsNothing() throws Exception {
        HeldPermit held = acquire();
        held.leaveThread();
        held.close(null);

        held.enterThread();

        assertThat(reenters()).isFalse();
        assertThat(running()).isEmpty();
        held.leaveThread();
        assertThat(running()).isEmpty();
        assertThat(free()).isOne();
    }

    @Test
    void aCallAroundAnotherIsLeftAsItWas() throws Throwable {
        assertThat(test.engine.call(test.engine.spec("Test.call", "web"), () -> {
                    HeldPermit held = test.engine.acquire(test.engine.spec("Test.inner", "inner"));
                    assertThat(test.engine.holdsPermitOf(test.limit("inner"))).isTrue();
                    held.leaveThread();
                    assertThat(test.engine.holdsPermitOf(test.limit("inner"))).isFalse();
                    assertThat(reenters()).isTrue();
                    held.close(null);
                    return test.limit("inner").available();
                }))
                .isEqualTo(1);
        assertThat(free()).isOne();
    }

    @Test
    void aStopDoesNotTakeThePermitAway() throws Exception {
        HeldPermit held = acquire();
        held.leaveThread();

        test.engine.stop(TestEngine.NO_TIME);

        assertThat(free()).isZero();
        assertThatExceptionOfType(LimitExceededException.class).isThrownBy(this::acquire);
        held.close(null);
        assertThat(free()).isOne();
        HeldPermit late = acquire(); // of a request that came before: it runs where it need not wait
        late.close(null);
        late.leaveThread();
        assertThat(running()).isEmpty();
    }

    @Test
    void theDeadlineOfTheThreadBoundsTheWait() throws Exception {
        Late.overdue(() -> {
            Late.assertThrowsRefusal(this::acquire);
            return null;
        });
        assertThat(free()).isOne();
        assertThat(running()).isEmpty();
    }
}
