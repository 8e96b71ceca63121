package io.github.virtualthread.observation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.github.virtualthread.cluster.ClusterSettings;
import io.github.virtualthread.cluster.ClusterShares;
import io.github.virtualthread.cluster.MemoryEngine;
import io.github.virtualthread.limit.LimitExceededException;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.TaskLimit;
import io.github.virtualthread.limit.TaskLimit.Member;
import io.github.virtualthread.limit.TestLease;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The meters of limits that all replicas share. */
@Timeout(300)
class SharedLimitMetersTests {

    private final MeterRegistry registry = new SimpleMeterRegistry();
    private final Figures figures = new Figures(registry);
    private final MemoryEngine memory = new MemoryEngine(false);
    private ClusterShares shares;
    private MeteredEngine test;

    private void engineWith(LimitSettings... settings) {
        test = new MeteredEngine(
                List.of(registry),
                timer -> shares = new ClusterShares(() -> memory, ClusterSettings.DEFAULTS, timer),
                settings);
        test.meters.start();
    }

    private static LimitSettings partner() {
        return LimitSettings.of("partner", 20).withClusterPermits(20);
    }

    @AfterEach
    void close() {
        test.close();
    }

    @Test
    void theyShowWhatIsLent() {
        engineWith(partner(), LimitSettings.of("db", 2));
        TestLease lease = new TestLease(test.limits.get("partner"));

        lease.lend(
                7,
                15,
                new Member("shop-1", 7, 0, 20, Duration.ZERO, Duration.ofMillis(80)),
                new Member("shop-2", 8, 9, 15, Duration.ZERO, Duration.ofMillis(80)));

        assertThat(value("permits")).isEqualTo(15);
        assertThat(value("share")).isEqualTo(7);
        assertThat(value("kept")).isEqualTo(6);
        assertThat(value("members")).isEqualTo(2);
        assertThat(value("lease.left")).isEqualTo(8.5);
        assertThat(names().filter(id -> id.getName().startsWith("virtual.thread.limit.cluster")))
                .hasSize(5)
                .allSatisfy(id -> assertThat(id.getTags()).containsExactly(Tag.of("limit", "partner")));

        lease.alone(10, Duration.ofSeconds(12));
        assertThat(value("share")).isEqualTo(10);
        assertThat(value("lease.left")).isZero();
    }

    @Test
    void theyAreZeroBeforeTheLimitIsShared() {
        engineWith(partner());

        assertThat(List.of(value("permits"), value("share"), value("members"), value("lease.left")))
                .containsOnly(0.0);
    }

    @Test
    void aLimitOfThisJvmAloneHasNone() {
        engineWith(LimitSettings.of("db", 2));

        assertThat(names()).isNotEmpty().noneMatch(id -> id.getName().contains("cluster"));
    }

    @Test
    void aLimitThatIsAddedLaterHasThem() {
        engineWith(LimitSettings.of("db", 2));
        test.limits.add(partner());

        test.meters.limits().customize(test.limits.get("partner"));

        assertThat(value("share")).isZero();
        assertThat(exchanges("success")).isZero();
    }

    @Test
    void exchangesAreTimedByTheirOutcome() {
        engineWith(partner());
        assertThat(exchanges("success") + exchanges("error") + exchanges("late"))
                .isZero();
        memory.fail();
        shares.add(test.limits.get("partner"));

        shares.start();
        await().atMost(Duration.ofMinutes(2)).until(() -> exchanges("error") > 0 && lost() > 0);
        assertThat(exchanges("success")).isZero();

        memory.heal();
        await().atMost(Duration.ofMinutes(2)).until(() -> exchanges("success") > 0);
        assertThat(lost()).isEqualTo(1);
        assertThat(exchanges("late")).isZero();
        assertThat(figures.timer("cluster.exchange", "outcome", "success").totalTime(TimeUnit.MINUTES))
                .isBetween(0.0, 2.0);
        shares.stop();
    }

    @Test
    void callsThatAreRejectedWithoutALeaseHaveTheirReason() {
        engineWith(partner());
        TestLease lease = new TestLease(test.limits.get("partner"));
        lease.refuse();

        assertThat(test.submit("partner", () -> null))
                .failsWithin(Duration.ofMinutes(2))
                .withThrowableThat()
                .withCauseInstanceOf(LimitExceededException.class);

        assertThat(figures.count("rejected", "limit", "partner", "reason", "NO_LEASE"))
                .isEqualTo(1);
    }

    @Test
    void whatWaitsForALeaseCountsAsWaiting() {
        engineWith(partner());
        TaskLimit limit = test.limits.get("partner");
        TestLease lease = new TestLease(limit);
        var waiting = test.submit("partner", () -> null);
        assertThat(figures.value("limit.waiting")).isEqualTo(1);
        assertThat(figures.value("limit.saturated")).isPositive();

        lease.lend(1, 20);

        assertThat(waiting).succeedsWithin(Duration.ofMinutes(2));
    }

    private double value(String gauge) {
        return figures.value("limit.cluster." + gauge, "limit", "partner");
    }

    private long exchanges(String outcome) {
        return figures.timer("cluster.exchange", "outcome", outcome).count();
    }

    private double lost() {
        return figures.count("cluster.lost");
    }

    private Stream<Meter.Id> names() {
        return registry.getMeters().stream().map(Meter::getId);
    }
}
