package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Rejections are reported in order, and none is lost with the thread that reports it. */
@Timeout(300)
class RejectionQueueTests {

    private final RejectionQueue queue = new RejectionQueue(new TaskTimer("test"));
    private final List<Call> reported = new ArrayList<>();

    @Test
    void allAreToldInTheOrderInWhichTheyCame() {
        List<Call> calls = List.of(recorded(), recorded(), recorded());
        calls.forEach(call -> queue.add(call, Reason.EVICTED));

        queue.tellAll();

        assertThat(reported).containsExactlyElementsOf(calls);
        assertThat(queue.isEmpty()).isTrue();
    }

    @Test
    void aCallLetsGoBeforeItIsTold() {
        Call call = recorded();

        queue.add(call, Reason.EVICTED);

        assertThat(call.hasLetGo).isTrue();
        assertThat(reported).isEmpty();
    }

    @Test
    void aCallThatCouldNotStartHearsOfThat() {
        Call call = Call.withoutThread(null);
        assertThat(call.grant()).isFalse();

        queue.add(call, null);
        queue.tellAll();

        assertThat(call.failed).isDone();
        assertThat(call.rejected).isNotDone();
    }

    @Test
    void oneThatCannotBeToldDoesNotKeepTheOthersFromIt() {
        Call next = recorded();
        queue.add(
                new Call(null) {
                    @Override
                    protected void rejected(Reason reason) {
                        throw new IllegalStateException("broken");
                    }
                },
                Reason.EVICTED);
        queue.add(next, Reason.EVICTED);

        queue.tellAll();

        assertThat(reported).containsExactly(next);
    }

    /** As if the JVM had taken off its stack what the first thread does. */
    @Test
    void whatAThreadLosesIsToldAgainByWhoAsksForThat() throws Exception {
        CountDownLatch telling = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Call lost = new Call(null) {
            @Override
            protected void rejected(Reason reason) {
                if (telling.getCount() > 0) {
                    telling.countDown();
                    awaitUninterruptibly(release);
                } else {
                    super.rejected(reason);
                }
            }
        };
        Call next = recorded();
        queue.add(lost, Reason.EVICTED);
        queue.add(next, Reason.EVICTED);
        Thread first = Thread.ofPlatform().daemon().start(queue::tellNext);
        telling.await();

        queue.tellAll();
        assertThat(reported).containsExactly(next);
        assertThat(lost.rejected).isNotDone();

        queue.tellAgain();
        assertThat(lost.rejected).isCompletedWithValue(Reason.EVICTED);

        release.countDown();
        first.join();
        assertThat(queue.isEmpty()).isTrue();
    }

    /** What comes while the others hear it once more is not counted any longer: or whoever tells would look for it for ever. */
    @Test
    void whatComesWhileOthersAreToldAgainIsToldOnce() throws Exception {
        CountDownLatch telling = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Call late = recorded();
        Call lost = new Call(null) {
            @Override
            protected void rejected(Reason reason) {
                if (telling.getCount() > 0) {
                    telling.countDown();
                    awaitUninterruptibly(release);
                } else {
                    queue.add(late, Reason.DEADLINE);
                }
            }
        };
        queue.add(lost, Reason.EVICTED);
        Thread first = Thread.ofPlatform().daemon().start(queue::tellNext);
        telling.await();

        queue.tellAgain();

        assertThat(reported).containsExactly(late);
        assertThat(queue.isEmpty()).isTrue();
        release.countDown();
        first.join();
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    private Call recorded() {
        return new Call(null) {
            @Override
            protected void rejected(Reason reason) {
                reported.add(this);
            }
        };
    }
}
