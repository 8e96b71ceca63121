package io.github.virtualthread.limit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages about limits that all replicas share: the advice depends on what keeps this replica from having more permits. */
@Timeout(300)
class SharedLimitMessagesTests extends TimedLimits {

    private final TaskLimits limits = limits(
            LimitSettings.of("partner", 20).withClusterPermits(20),
            LimitSettings.of("report", 5).withClusterPermits(20).withQueueCapacity(100),
            LimitSettings.of("mail", 2).withWithin("partner"));

    private String message(String limit, Reason reason) {
        return new LimitExceededException("Shop.price", limits.get(limit), reason).getMessage();
    }

    @Test
    void aSmallShareIsNoReasonToRaiseThePermits() {
        new TestLease(limits.get("partner")).lend(3, 20);

        assertThat(message("partner", Reason.QUEUE_FULL))
                .isEqualTo("Shop.price was rejected (QUEUE_FULL): limit partner (20 permits in all replicas, unbounded"
                        + " queue, unbounded wait) has 3 of 20 permits for this replica, 3 of them free, and 0 calls"
                        + " waiting; raise its cluster-permits if the resource can take more,"
                        + " raise its queue-capacity for bursts, or send fewer calls");
        assertThat(message("partner", Reason.WAIT_TIMEOUT))
                .endsWith(
                        "; raise its cluster-permits if the resource can take more, raise its max-wait, or send fewer calls");
    }

    @Test
    void aReplicaThatHasAllThatItMayUseCanBeGivenMore() {
        new TestLease(limits.get("report")).lend(5, 20);

        assertThat(message("report", Reason.QUEUE_FULL))
                .contains(
                        "limit report (5 permits, 20 in all replicas, queue of 100, unbounded wait) has 5 of 20 permits"
                                + " for this replica")
                .endsWith("; raise its permits if the resource can take more,"
                        + " raise its queue-capacity for bursts, or send fewer calls");

        new TestLease(limits.get("partner")).lend(20, 20);
        assertThat(message("partner", Reason.QUEUE_FULL)).contains("raise its cluster-permits if");
    }

    @Test
    void withoutALeaseNoNumberHelps() {
        TestLease lease = new TestLease(limits.get("partner"));
        lease.lose(Duration.ofSeconds(12));

        assertThat(message("partner", Reason.QUEUE_FULL))
                .contains(
                        "has no permits, because none are lent to this replica, and 0 calls waiting; see the log for why,"
                                + " raise its queue-capacity for bursts, or send fewer calls");
        assertThat(message("partner", Reason.NO_LEASE))
                .isEqualTo("Shop.price was rejected (NO_LEASE): limit partner (20 permits in all replicas, unbounded"
                        + " queue, unbounded wait) has no permits, because none are lent to this replica, and 0 calls"
                        + " waiting; the engine that lends permits to all replicas cannot be reached: see the log for why,"
                        + " or set its on-failure to local-share or wait");
    }

    @Test
    void noNumberHelpsEitherWhileTheEngineMayNotKnowWhatIsInUse() {
        TestLease lease = new TestLease(limits.get("partner"));
        lease.lend(0, 20);
        lease.holdUp();

        assertThat(message("partner", Reason.WAIT_TIMEOUT))
                .contains(
                        "has no permits, because none are lent to this replica, and 0 calls waiting; see the log for why,"
                                + " raise its max-wait, or send fewer calls");

        lease.lend(1, 20);
        assertThat(message("partner", Reason.WAIT_TIMEOUT)).contains("raise its cluster-permits if");
    }

    @Test
    void aLimitAroundThatIsSharedShowsItsShare() {
        TestLease lease = new TestLease(limits.get("partner"));
        lease.lend(0, 20);
        assertThat(message("mail", Reason.WAIT_TIMEOUT))
                .contains("has 2 permits free and 0 calls waiting, and limit partner around it has 0 of 0; raise its"
                        + " permits if");

        lease.lend(3, 20);
        assertThat(limits.get("mail").whyFull()).isNull();
    }

    @Test
    void theSettingsHaveOneNumberWhereThisReplicaMayUseAll() {
        assertThat(limits.get("partner"))
                .hasToString("partner (20 permits in all replicas, unbounded queue, unbounded wait)");
        assertThat(limits.get("report"))
                .hasToString("report (5 permits, 20 in all replicas, queue of 100, unbounded wait)");
        assertThat(LimitSettings.of("db", 1)
                        .withPermitsFrom(new PermitsFrom("dataSource", 0))
                        .withClusterPermits(1))
                .asString()
                .contains("1 permit from dataSource, 1 in all replicas, ");
    }
}
