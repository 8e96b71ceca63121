package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.LimitExceededException.Reason;
import io.github.virtualthread.limit.LimitSettings;
import io.github.virtualthread.limit.LimitSettings.OnFailure;
import io.github.virtualthread.limit.TaskLimit.ClusterState;
import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Replicas without the engine: of 20 permits, each of 3 replicas has 6. */
class AloneReplicaTests extends ClockedShares {

    @Test
    void whoLeftIsNotAlone() {
        Replica d = new Replica("d", 2);
        d.exchange();
        d.share.goodbye();
        pass(Duration.ofHours(1));
        d.share.look();

        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.LOST);

        engine.fail();
        d.exchange();
        patience(d);
        goAlone(d);
        assertThat(d.limit.cluster().lending())
                .as("it has begun again, and others may have its part")
                .isEqualTo(Lending.LOST);

        goAlone(d);
        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.ALONE);
    }

    @Test
    void whatOthersMayUseAloneIsLentToNobody() {
        Replica d = new Replica("d", 3);
        d.asks(30);
        learn(d);
        assertThat(d.running()).isEqualTo(8);
        assertThat(d.limit.cluster())
                .extracting(ClusterState::kept, ClusterState::keptFor)
                .containsExactly(12, 2);

        learn(d, new Replica("e", 3), new Replica("f", 3));

        assertThat(d.limit.cluster())
                .extracting(ClusterState::kept, ClusterState::keptFor)
                .containsExactly(0, 0);
        assertThat(d.running()).isEqualTo(PERMITS);
    }

    @Test
    void aloneItUsesItsPartOfTheNumberInForce() {
        Replica d = new Replica("d", 2);
        Replica e = new Replica("e", 2);
        e.limit.setClusterPermits(5);
        learn(e, d);
        lose(d);
        assertThat(d.limit.lent()).isEqualTo(2);

        d.limit.setClusterPermits(3);
        engine.fail();
        d.exchange();
        assertThat(d.limit.lent()).as("a smaller number, also alone").isEqualTo(1);
    }

    @Test
    void aloneItUsesNoMoreThanThisReplicaMayRun() {
        Replica d =
                new Replica("d", LimitSettings.of("partner", 2).withClusterPermits(PERMITS), OnFailure.LOCAL_SHARE, 2);
        neverReached(d);
        d.asks(10);
        assertThat(d.running()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"3, 6, ALONE", "20, 1, ALONE", "21, 0, LOST", ", 0, LOST"})
    void whoHasNeverReachedTheEngineUsesItsPartToo(@Nullable Integer replicas, int part, Lending lending) {
        Replica d = new Replica("d", limit(), OnFailure.LOCAL_SHARE, replicas);
        d.asks(10);
        neverReached(d);
        assertThat(d.limit.cluster().lending()).isEqualTo(lending);
        assertThat(d.running()).isEqualTo(part);
    }

    @ParameterizedTest
    @EnumSource(
            value = OnFailure.class,
            names = {"WAIT", "REJECT"})
    void nothingBeginsWithoutTheEngine(OnFailure onFailure) {
        Replica d = new Replica("d", limit(), onFailure, 2);
        Request early = d.ask();
        assertThat(d.refusal()).as("nobody has been asked yet").isNull();
        neverReached(d);
        assertThat(d.limit.cluster().lending()).isEqualTo(Lending.LOST);
        assertThat(d.share.isAway()).isTrue();
        assertThat(d.refusal()).isEqualTo(onFailure == OnFailure.REJECT ? Reason.NO_LEASE : null);
        assertThat(early.isRunning()).isFalse();
        assertThat(early.rejected).isNotDone();

        engine.heal();
        d.exchange();
        assertThat(early.isRunning()).isTrue();
        assertThat(d.share.isAway()).isFalse();
        assertThat(d.refusal()).isNull();
    }

    @Test
    void theSettingOfTheLimitComesFirst() {
        Replica d = new Replica("d", limit().withOnFailure(OnFailure.REJECT), OnFailure.WAIT, null);
        neverReached(d);
        assertThat(d.refusal()).isEqualTo(Reason.NO_LEASE);
    }
}
