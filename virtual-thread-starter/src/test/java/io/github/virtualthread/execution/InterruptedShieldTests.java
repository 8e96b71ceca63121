package io.github.virtualthread.execution;

import static io.github.virtualthread.execution.TestEngine.await;
import static io.github.virtualthread.execution.TestEngine.awaitStubbornly;
import static io.github.virtualthread.execution.TestShield.body;
import static io.github.virtualthread.execution.TestShield.unshield;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Parts of bodies that a stop interrupts although they have a shield. */
@Timeout(value = 300, threadMode = ThreadMode.SEPARATE_THREAD)
@Tag("jdk")
class InterruptedShieldTests extends ShieldedCalls {

    @Test
    void forceInterrupts() throws Exception {
        CountDownLatch interrupted = new CountDownLatch(1);
        CompletableFuture<List<Boolean>> seen = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> {
            body().shield(shield);
            running.countDown();
            try {
                go.await();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
            boolean owed = unshield(body());
            return seen.complete(
                    List.of(owed, body().force(), Thread.currentThread().isInterrupted()));
        });
        await(running);
        assertThat(self.join().force()).as("before a stop").isFalse();
        stop(Stop.CANCEL, future);
        await(shield.heard);
        assertThat(interrupted.getCount()).isEqualTo(1);

        assertThat(self.join().force()).isTrue();

        await(interrupted);
        assertThat(get(seen)).containsExactly(true, false, false);
        assertAllIsOver();
    }

    @Test
    void forceWaitsUntilTheShieldHasBeenTold() throws Exception {
        CompletableFuture<Boolean> forced = new CompletableFuture<>();
        TestShield slow = new TestShield() {
            @Override
            public void stopped(StoppableBody body) {
                CountDownLatch begun = new CountDownLatch(1);
                Thread.ofPlatform().daemon().start(() -> {
                    begun.countDown();
                    forced.complete(body.force());
                });
                await(begun);
                for (int i = 0; i < 100 && !forced.isDone(); i++) {
                    Thread.yield();
                }
                super.stopped(body);
            }
        };
        CountDownLatch interrupted = new CountDownLatch(1);
        CompletableFuture<?> future = submit(() -> {
            body().shield(slow);
            running.countDown();
            try {
                go.await();
            } catch (InterruptedException expected) {
                interrupted.countDown();
            }
            return unshield(body());
        });
        await(running);

        stop(Stop.CANCEL, future);

        assertThat(get(forced)).isTrue();
        await(interrupted);
        assertAllIsOver();
    }

    /** As there is no thread to end the part on. */
    @ParameterizedTest
    @ValueSource(classes = {OutOfMemoryError.class, IllegalStateException.class})
    void aShieldThatCannotBeToldIsInterrupted(Class<? extends Throwable> failure) throws Exception {
        TestShield broken = new TestShield() {
            @Override
            public void stopped(StoppableBody body) {
                super.stopped(body);
                if (failure == OutOfMemoryError.class) {
                    throw new OutOfMemoryError("unable to create native thread");
                }
                throw new IllegalStateException("broken");
            }
        };
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> {
            body().shield(broken);
            running.countDown();
            boolean seen = false;
            try {
                go.await();
            } catch (InterruptedException expected) {
                seen = true;
            }
            return interrupted.complete(unshield(body()) && seen);
        });
        await(running);

        stop(Stop.CANCEL, future);

        assertThat(get(interrupted)).isTrue();
        assertThat(broken.told).hasValue(1);
        assertAllIsOver();
    }

    /** Whoever shields it needs memory for that. */
    @Test
    void aPartThatCannotBeShieldedIsInterruptedAsUsual() throws Exception {
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        CompletableFuture<?> future = submit(() -> {
            assertThatNullPointerException().isThrownBy(() -> body().shield(null));
            running.countDown();
            awaitStubbornly(go);
            return interrupted.complete(Thread.currentThread().isInterrupted());
        });
        await(running);

        stop(Stop.CANCEL, future);
        go.countDown();

        assertThat(get(interrupted)).isTrue();
        assertAllIsOver();
    }
}
