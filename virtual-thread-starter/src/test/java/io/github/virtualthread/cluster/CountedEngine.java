package io.github.virtualthread.cluster;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Counts exchanges: how many there were at once, and how many threads were interrupted before and in them. */
final class CountedEngine implements ClusterEngine {

    final AtomicInteger mostExchanging = new AtomicInteger();
    final AtomicInteger begunInterrupted = new AtomicInteger();
    final AtomicInteger interrupted = new AtomicInteger();
    private final AtomicInteger exchanging = new AtomicInteger();
    private final ClusterEngine engine;

    CountedEngine(ClusterEngine engine) {
        this.engine = engine;
    }

    @Override
    public List<Answer> exchange(List<Claim> claims) throws Exception {
        mostExchanging.accumulateAndGet(exchanging.incrementAndGet(), Math::max);
        begunInterrupted.addAndGet(Thread.currentThread().isInterrupted() ? 1 : 0);
        try {
            return engine.exchange(claims);
        } catch (InterruptedException overdue) {
            interrupted.incrementAndGet();
            throw overdue;
        } finally {
            exchanging.decrementAndGet();
        }
    }
}
