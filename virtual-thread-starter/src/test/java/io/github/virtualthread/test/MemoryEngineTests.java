package io.github.virtualthread.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.virtualthread.cluster.Answer;
import io.github.virtualthread.cluster.Claim;
import io.github.virtualthread.cluster.ClusterEngine;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** The engine of other tests does what those of servers do, and fails as it is told. */
class MemoryEngineTests extends ClusterEngineContract {

    private final MemoryEngine engine = new MemoryEngine(true);
    private long number;

    @Override
    protected ClusterEngine engine() {
        return engine;
    }

    @Override
    protected void loseData() {
        engine.loseData();
    }

    @Override
    protected Runnable backup() {
        return engine.backup();
    }

    @Override
    protected void changeServer() {
        engine.restart();
    }

    @Override
    protected void pass(Duration duration) {
        engine.pass(duration);
    }

    @Test
    void failsBeforeItStores() {
        engine.fail();

        assertThatThrownBy(() -> engine.exchange(claims(3))).isInstanceOf(IOException.class);

        assertThat(engine.lent("partner")).isZero();
        assertThat(engine.exchanges())
                .noneMatch(claims -> claims.getFirst().member().equals("a"));
    }

    @Test
    void losesAnAnswer() throws Exception {
        engine.after(claims -> {
            throw new IOException("connection reset");
        });

        assertThatThrownBy(() -> engine.exchange(claims(3))).isInstanceOf(IOException.class);
        assertThat(engine.lent("partner")).isEqualTo(3);

        engine.heal();
        assertThat(engine.exchange(claims(0))).extracting(Answer::share).containsExactly(0);
    }

    @Test
    void hangsUntilItIsReleased() throws Exception {
        MemoryEngine.Gate gate = engine.hang();
        CompletableFuture<List<Answer>> hangs = new CompletableFuture<>();
        Thread.startVirtualThread(() -> {
            try {
                hangs.complete(engine.exchange(claims(3)));
            } catch (Exception e) {
                hangs.completeExceptionally(e);
            }
        });
        gate.awaitArrival();
        assertThat(hangs).isNotDone();
        assertThat(engine.lent("partner")).isZero();

        gate.open();

        assertThat(hangs.get()).extracting(Answer::share).containsExactly(3);
    }

    @Test
    void hangsUntilItIsInterrupted() throws Exception {
        MemoryEngine.Gate gate = engine.hang();
        CompletableFuture<Exception> failure = new CompletableFuture<>();
        Thread thread = Thread.startVirtualThread(() -> {
            try {
                engine.exchange(claims(3));
            } catch (Exception e) {
                failure.complete(e);
            }
        });
        gate.awaitArrival();

        thread.interrupt();

        assertThat(failure.get()).isInstanceOf(InterruptedException.class);
    }

    @Test
    void losesItsLastWrites() throws Exception {
        engine.exchange(claims(3));
        Runnable failover = engine.backup();
        engine.exchange(claims(5));
        assertThat(engine.lent("partner")).isEqualTo(5);

        failover.run();

        assertThat(engine.members("partner"))
                .containsExactly(new Answer.Other("a", 3, 3, 10, engine.now(), engine.now()));
    }

    @Test
    void lendsAtOnceIfItIsToldThatNothingCanBeLost() throws Exception {
        MemoryEngine safe = new MemoryEngine(false);

        assertThat(safe.exchange(claims(3))).extracting(Answer::share).containsExactly(3);
    }

    private List<Claim> claims(int asks) {
        return List.of(new Claim(
                "partner", "a", ++number, 0, Duration.ZERO, Duration.ZERO, 10, 0, 0, asks, asks, Duration.ZERO, LONG));
    }
}
