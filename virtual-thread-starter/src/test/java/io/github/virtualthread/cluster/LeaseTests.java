package io.github.virtualthread.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.virtualthread.limit.TaskLimit.ClusterState.Lending;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The table of transitions of a lease: each state, and all that can happen in it. */
class LeaseTests {

    private static final long LENGTH = TimeUnit.SECONDS.toNanos(10);
    private static final long VALID = TimeUnit.SECONDS.toNanos(9);
    private static final long STEP = TimeUnit.MILLISECONDS.toNanos(200);
    private static final long FIRST_STEP = TimeUnit.SECONDS.toNanos(2); // the first answer has a whole lease

    private long now = Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(5); // overflows soon
    private final Lease lease = new Lease(Duration.ofNanos(LENGTH), () -> now);

    /** Where a lease can be. */
    enum From {
        /** Nobody has answered, and the first answer may still come. */
        NEW,
        LENT,
        /** By the clock, and nobody has looked. */
        OVER,
        PATIENT,
        AWAY,
        ALONE
    }

    private void begin(From from) {
        if (from == From.NEW) {
            return;
        }
        lease.claim();
        assertThat(lease.lend(now)).isTrue();
        now += from == From.LENT ? 5 : VALID;
        if (from == From.LENT || from == From.OVER) {
            return;
        }
        assertThat(lease.endIfOver()).isTrue();
        if (from != From.PATIENT) {
            loseIt();
        }
        if (from == From.ALONE) {
            now += LENGTH;
            assertThat(lease.mayBeAlone()).isTrue();
            lease.goAlone();
        }
    }

    private void loseIt() {
        for (int i = 0; i < 5; i++) {
            assertThat(lease.untilLook(now)).isEqualTo(STEP);
            now += STEP;
            lease.look();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "NEW, LOST, false, false", "LENT, LENT, true, false", "OVER, LENT, false, false",
        "PATIENT, LOST, false, false", "AWAY, LOST, false, true", "ALONE, ALONE, true, true"
    })
    void isValidWhileItIsLentByTheClockOrAlone(From from, Lending lending, boolean valid, boolean away) {
        begin(from);

        assertThat(lease.lending()).isEqualTo(lending);
        assertThat(lease.isValid()).isEqualTo(valid);
        assertThat(lease.isAway()).isEqualTo(away);
    }

    @ParameterizedTest
    @EnumSource(From.class)
    void anAnswerInTimeLendsWhateverWasBefore(From from) {
        begin(from);
        lease.claim();
        long sent = now;
        now += VALID - 1;

        assertThat(lease.lend(sent)).isTrue();

        assertThat(lease.lending()).isEqualTo(Lending.LENT);
        assertThat(lease.isValid()).isTrue();
        assertThat(lease.isAway()).isFalse();
        assertThat(lease.left(now)).isOne();
        assertThat(lease.untilLook(now)).isOne();
        now++;
        assertThat(lease.isValid()).as("as of the time of its claim").isFalse();
        assertThat(lease.left(now)).isZero();
    }

    @ParameterizedTest
    @EnumSource(From.class)
    void aLateAnswerChangesNothing(From from) {
        begin(from);
        Lending before = lease.lending();
        boolean away = lease.isAway();
        lease.claim();
        long sent = now;
        now += VALID;

        assertThat(lease.lend(sent)).isFalse();

        assertThat(lease.lending()).isEqualTo(before);
        assertThat(lease.isAway()).isEqualTo(away);
        assertThat(lease.isValid()).isEqualTo(from == From.ALONE);
    }

    @ParameterizedTest
    @EnumSource(From.class)
    void endIfOverEndsOnlyWhatIsOver(From from) {
        begin(from);
        Lending before = lease.lending();

        assertThat(lease.endIfOver()).isEqualTo(from == From.OVER);

        assertThat(lease.lending()).isEqualTo(from == From.OVER ? Lending.LOST : before);
        assertThat(lease.endIfOver()).as("once").isFalse();
    }

    @ParameterizedTest
    @EnumSource(From.class)
    void whoLeavesHasNoLeaseAndIsPatientAgain(From from) {
        begin(from);

        lease.end();

        assertThat(lease.lending()).isEqualTo(Lending.LOST);
        assertThat(lease.isValid()).isFalse();
        assertThat(lease.untilLook(now)).isEqualTo(from == From.NEW ? FIRST_STEP : STEP);
    }

    /** With a lease, a pause of this JVM may have ended the exchange. */
    @ParameterizedTest
    @CsvSource({"NEW, true", "LENT, false", "OVER, false", "PATIENT, true", "AWAY, true", "ALONE, true"})
    void aFailureShowsThatTheEngineIsAwayWhereNothingWasLentAtTheClaim(From from, boolean away) {
        begin(from);
        Lending before = lease.lending();
        lease.claim();

        lease.fail();

        assertThat(lease.isAway()).isEqualTo(away);
        assertThat(lease.lending()).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource(From.class)
    void patienceRunsOutOnlyWhereNothingIsLent(From from) {
        begin(from);
        boolean wasAway = lease.isAway();
        for (int i = 0; i < 20; i++) {
            now += from == From.NEW ? FIRST_STEP : STEP;
            lease.look();
        }

        assertThat(lease.isAway()).isEqualTo(wasAway || from == From.NEW || from == From.PATIENT);
    }

    @Test
    void aLookThatComesLateBeginsToWaitAgain() {
        begin(From.PATIENT);
        for (int i = 0; i < 50; i++) {
            now += i % 5 == 4 ? 2 * STEP + 1 : STEP;
            lease.look();
            lease.look(); // too early
            assertThat(lease.isAway()).isFalse();
        }
        loseIt();
        assertThat(lease.isAway()).isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = From.class,
            names = {"NEW", "PATIENT"})
    void mayBeAloneTwoLeasesAfterTheLastAnswer(From from) {
        begin(from);
        long answered = from == From.NEW ? now : now - VALID;
        long step = from == From.NEW ? FIRST_STEP : STEP;
        for (int i = 0; i < 5; i++) {
            assertThat(lease.isAway()).as("its owner is patient").isFalse();
            assertThat(lease.untilLook(now)).isEqualTo(step);
            now += step;
            lease.look();
        }
        assertThat(lease.isAway()).isTrue();
        assertThat(lease.untilLook(now)).isEqualTo(answered + 2 * LENGTH - now);

        now = answered + 2 * LENGTH - 1;
        assertThat(lease.mayBeAlone()).isFalse();
        now++;
        assertThat(lease.mayBeAlone()).isTrue();
        assertThat(lease.untilLook(now)).as("nothing more to see").isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void whoStoodStillForLongerAsksBeforeItIsAlone() {
        begin(From.LENT);
        now += 10 * LENGTH;
        lease.endIfOver();

        assertThat(lease.mayBeAlone()).isFalse();
        loseIt();
        assertThat(lease.mayBeAlone()).isTrue();
    }

    @Test
    void aFirstExchangeThatFailsIsWaitedForNoLonger() {
        now += FIRST_STEP / 2;
        lease.claim();
        lease.fail();

        assertThat(lease.untilLook(now)).isEqualTo(STEP);
        loseIt();
    }

    @Test
    void whoBeginsAwayNeedsOneLookOnly() {
        lease.beginAway();

        assertThat(lease.isAway()).isTrue();
        now += FIRST_STEP;
        lease.look();
        assertThat(lease.untilLook(now)).isEqualTo(2 * LENGTH - FIRST_STEP);
    }

    @Test
    void aShortLeaseIsWaitedForInShorterSteps() {
        Lease shorter = new Lease(Duration.ofMillis(1_500), () -> now);
        shorter.claim();
        shorter.lend(now);
        shorter.end();

        assertThat(shorter.untilLook(now))
                .as("a third of the lease, in five steps")
                .isEqualTo(TimeUnit.MILLISECONDS.toNanos(100));
    }
}
