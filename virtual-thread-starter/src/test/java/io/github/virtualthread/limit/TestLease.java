package io.github.virtualthread.limit;

import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import io.github.virtualthread.limit.TaskLimit.Member;
import java.time.Duration;
import java.util.List;

/** Lends a limit what a test wants, without an engine. */
public final class TestLease extends PermitLease {

    private final TaskLimit limit;
    private volatile ClusterState state;
    private volatile boolean refused;
    private volatile boolean heldUp;

    /** The limit has this lease from now on, and no permits yet. */
    public TestLease(TaskLimit limit) {
        super(limit);
        this.limit = limit;
        this.state = state(Lending.LOST, Duration.ZERO, limit.permits(), List.of());
        begin();
    }

    private static ClusterState state(Lending lending, Duration since, int permits, List<Member> members) {
        Duration left = lending == Lending.LENT ? Duration.ofMillis(8_500) : Duration.ZERO;
        return new ClusterState(lending, since, permits, 6, 1, left, members);
    }

    /** Lends permits, and shows these members. */
    public void lend(int share, int inForce, Member... members) {
        state = state(Lending.LENT, Duration.ofSeconds(1), inForce, List.of(members));
        lend(share);
    }

    /** The engine is away: this replica uses some of the permits. */
    public void alone(int share, Duration since) {
        state = state(Lending.ALONE, since, state.permits(), state.members());
        lend(share);
    }

    /** The engine is away, and nobody lends any permits. */
    public void lose(Duration since) {
        state = state(Lending.LOST, since, state.permits(), state.members());
        lend(0);
    }

    /** Calls that find no permit are rejected from now on. */
    public void refuse() {
        refused = true;
    }

    /** No more are lent for a while. */
    public void holdUp() {
        heldUp = true;
    }

    @Override
    protected boolean isHeldUp() {
        return heldUp;
    }

    @Override
    protected boolean isValid() {
        return state.lending() != Lending.LOST;
    }

    @Override
    protected boolean isRefused() {
        return refused && !isValid();
    }

    @Override
    protected void wanted() {}

    @Override
    protected void changed() {}

    @Override
    protected ClusterState state() {
        return state;
    }

    @Override
    public String toString() {
        return "lease of " + limit;
    }
}
